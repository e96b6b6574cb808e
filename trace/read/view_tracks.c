/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planes become processes: that of a device is one by itself, host planes of one pid are one, and what stands beside
 * "/host:CPU" without saying whose it is belongs to that one's. Lines become tracks.
 */
#include "trace/read/view_tracks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "trace/device_name.h"
#include "trace/read/archive.h"
#include "trace/read/derived.h"
#include "trace/read/view.h"
#include "trace/saturate.h"
#include "trace/space.h"

#define MAX_REAL (VIEW_MADE_UP - 1)

struct building {
	struct view *view;
	uint32_t host; /* whose planes are being added */
	int64_t host_pid; /* of its "/host:CPU"; 0: it has none */
	struct names pids; /* "HOST PID" of the processes that have one */
	uint32_t *processes_of_pids; /* their processes */
	size_t n_processes_of_pids;
	int32_t n_devices;
};

/* --- processes ----------------------------------------------------------------------------- */

static bool is_device(const struct archive_plane *plane)
{
	return plane_name_is_device(plane->name);
}

static int64_t find_pid(const struct archive_plane *plane)
{
	int64_t pid = archive_plane_find_int(plane, "process_id");

	return pid > 0 && pid <= MAX_REAL ? pid : 0;
}

/* "GPU:3" is 3; what has no number of its own has that of its plane. */
static int32_t find_local_device(const struct archive_plane *plane)
{
	const char *colon = strrchr(plane->name, ':');
	char *end;
	long n = colon ? strtol(colon + 1, &end, 10) : -1;

	if (colon && end > colon + 1 && n >= 0 && n <= INT32_MAX)
		return (int32_t)n;
	return plane->id >= 0 && plane->id <= INT32_MAX ? (int32_t)plane->id : 0;
}

static char *name_process(const struct archive_plane *plane)
{
	char *name = archive_plane_copy_text(plane, "ptap_process_name");

	return name ? name : strdup(plane->name[0] ? plane->name : "(unnamed)");
}

static void describe_device(
	struct building *b, struct view_process *p, const struct archive_plane *plane)
{
	p->is_device = is_device(plane);
	p->device = p->is_device ? b->n_devices++ : -1;
	p->local_device = p->is_device ? find_local_device(plane) : -1;
}

/* The index of a new one, or -ENOMEM. */
static int64_t add_process(struct building *b, const struct archive_plane *plane, int64_t pid)
{
	struct view *v = b->view;
	struct view_process *p;

	if (grow(&v->processes, &v->n_processes_allocated, v->n_processes + 1))
		return -ENOMEM;
	p = &v->processes[v->n_processes];
	*p = (struct view_process){.host = b->host};
	describe_device(b, p, plane);
	p->is_real = pid > 0;
	p->pid = p->is_real ? pid : VIEW_MADE_UP + (int64_t)v->n_processes;
	p->name = name_process(plane);
	return p->name ? (int64_t)v->n_processes++ : -ENOMEM;
}

/* The index of that of the host and the pid, which is a new one if need be, or -ENOMEM. */
static int64_t take_by_pid(struct building *b, const struct archive_plane *plane, int64_t pid)
{
	uint32_t n_known = b->pids.n_texts;
	char key[48];
	uint32_t k;
	int64_t i;

	snprintf(key, sizeof key, "%u %lld", b->host, (long long)pid);
	k = names_intern(&b->pids, key, strlen(key));
	if (k < n_known)
		return b->processes_of_pids[k];
	if (k == NAMES_NONE || grow(&b->processes_of_pids, &b->n_processes_of_pids, (size_t)k + 1))
		return -ENOMEM;
	i = add_process(b, plane, pid);
	b->processes_of_pids[k] = (uint32_t)i;
	return i;
}

static int64_t take_process(struct building *b, const struct archive_plane *plane)
{
	int64_t pid = find_pid(plane);

	if (is_device(plane))
		return add_process(b, plane, 0);
	if (!pid && strncmp(plane->name, "/host:", 6) == 0)
		pid = b->host_pid;
	return pid ? take_by_pid(b, plane, pid) : add_process(b, plane, 0);
}

/* --- tracks -------------------------------------------------------------------------------- */

static enum track_kind find_kind(const struct view_process *p, const struct archive_line *line)
{
	if (line->is_counters)
		return TRACK_COUNTERS;
	if (p->is_device)
		return TRACK_STREAM;
	return line->is_async ? TRACK_ASYNC : TRACK_THREAD;
}

static int add_track(struct view *v, uint32_t process, const struct archive_plane *plane,
	const struct archive_line *line)
{
	const struct view_process *p = &v->processes[process];
	struct view_track t = {.kind = find_kind(p, line), .plane = plane, .line = line};

	t.process = process;
	t.origin = process;
	t.n_events = line->n_events;
	t.is_derived =
		(t.kind == TRACK_THREAD || t.kind == TRACK_STREAM) && line_is_derived(plane, line);
	t.tid = line->id;
	t.is_real = t.kind == TRACK_THREAD && p->is_real && t.tid > 0 && t.tid <= MAX_REAL;
	t.name = strdup(line->name[0] ? line->name : "(unnamed)");
	t.origin_name = t.name ? strdup(t.name) : NULL;
	if (!t.origin_name || grow(&v->tracks, &v->n_tracks_allocated, v->n_tracks + 1)) {
		free(t.name);
		free(t.origin_name);
		return -ENOMEM;
	}
	v->tracks[v->n_tracks++] = t;
	return 0;
}

static void measure(struct view *v, const struct view_host *host, const struct archive_line *line)
{
	int64_t first_ns = add_saturated(line->first_ns, host->shift_ns);
	int64_t end_ns = add_saturated(line->end_ns, host->shift_ns);

	if (v->n_events == 0 || first_ns < v->first_ns)
		v->first_ns = first_ns;
	if (v->n_events == 0 || end_ns > v->end_ns)
		v->end_ns = end_ns;
	v->n_events += line->n_events;
}

static int add_plane(struct building *b, const struct archive_plane *plane)
{
	struct view *v = b->view;
	int64_t process;
	int rc = 0;

	if (plane->n_lines == 0)
		return 0;
	process = take_process(b, plane);
	if (process < 0)
		return -ENOMEM;
	for (size_t i = 0; i < plane->n_lines && rc == 0; i++) {
		measure(v, &v->hosts[b->host], &plane->lines[i]);
		rc = add_track(v, (uint32_t)process, plane, &plane->lines[i]);
	}
	return rc;
}

static int add_planes(struct view *v)
{
	struct building b = {.view = v};
	int rc = 0;

	for (; b.host < v->n_archives && rc == 0; b.host++) {
		const struct archive *s = v->archives[b.host];

		b.host_pid = find_pid(archive_find_plane(s, PLANE_HOST));

		for (size_t i = 0; i < s->n_planes && rc == 0; i++)
			rc = add_plane(&b, &s->planes[i]);
	}
	names_deinit(&b.pids);
	free(b.processes_of_pids);
	return rc;
}

/* --- order and ids ------------------------------------------------------------------------- */

/* A process may have several planes. */
static int compare_places(const void *left, const void *right)
{
	const struct view_track *a = left;
	const struct view_track *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->plane != b->plane)
		return a->plane < b->plane ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static int compare_ids(const void *left, const void *right)
{
	const struct view_track *a = left;
	const struct view_track *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->is_real != b->is_real)
		return a->is_real ? -1 : 1;
	return compare_places(left, right);
}

/* The first real one of an id keeps it. */
static void make_up_tids(struct view *v)
{
	const struct view_track *last = NULL;

	qsort(v->tracks, v->n_tracks, sizeof *v->tracks, compare_ids);
	for (size_t i = 0; i < v->n_tracks; i++) {
		struct view_track *t = &v->tracks[i];

		t->is_real =
			t->is_real && !(last && last->process == t->process && last->tid == t->tid);
		if (t->is_real)
			last = t;
		else
			t->tid = 0;
	}
}

int view_add_tracks(struct view *v)
{
	int rc = add_planes(v);

	if (rc || !v->n_tracks)
		return rc;
	make_up_tids(v);
	qsort(v->tracks, v->n_tracks, sizeof *v->tracks, compare_places);
	for (size_t i = 0; i < v->n_tracks; i++) {
		struct view_track *t = &v->tracks[i];

		if (!t->is_real)
			t->tid = VIEW_MADE_UP + (int64_t)i;
		t->origin_tid = t->tid;
		t->is_origin_real = t->is_real;
	}
	return 0;
}
