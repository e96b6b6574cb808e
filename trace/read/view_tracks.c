/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes processes of planes, and tracks of lines. The plane of a device is a process by itself;
 * host planes of one pid are one process, and host planes without a pid belong to the process of
 * "/host:CPU".
 */
#include "trace/read/view_tracks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "trace/model/space.h"
#include "trace/read/archive.h"
#include "trace/read/view.h"
#include "trace/saturate.h"

#define MAX_REAL (VIEW_MADE_UP - 1)

struct view_builder {
	struct view *view;
	uint32_t host; /* the host whose planes are being added */
	int64_t host_pid; /* the pid of its "/host:CPU"; 0: it has none */
	struct names keys; /* "HOST PID" of processes that have a pid, "HOST PLANE" of GPUs */
	uint32_t *processes_of_keys;
	size_t n_processes_of_keys;
	int32_t n_devices;
};

/* --- processes ----------------------------------------------------------------------------- */

static bool plane_is_device(const struct archive_plane *plane)
{
	return plane_name_is_device(plane->name);
}

int64_t archive_plane_find_pid(const struct archive_plane *plane)
{
	int64_t pid = archive_plane_find_int(plane, "process_id");

	return pid > 0 && pid <= MAX_REAL ? pid : 0;
}

/*
 * The number of a device: that of "GPU:3" is 3. A device without a number has the id of its plane.
 */
static int32_t find_local_device(const struct archive_plane *plane)
{
	const char *colon = strrchr(plane->name, ':');
	char *end;
	long n = colon ? strtol(colon + 1, &end, 10) : -1;

	if (colon && end > colon + 1 && n >= 0 && n <= INT32_MAX)
		return (int32_t)n;
	return plane->id >= 0 && plane->id <= INT32_MAX ? (int32_t)plane->id : 0;
}

/*
 * Returns the name of the plane's process. For a server of another make it is proftap_target_name,
 * which the client that recorded it wrote into the trace (client/answer/clock_offset.h).
 */
static char *name_process(const struct view_builder *b, const struct archive_plane *plane)
{
	const struct archive_plane *environment = NULL;
	char *name = archive_plane_copy_text(plane, "ptap_process_name");

	if (!name && strcmp(plane->name, PLANE_HOST) == 0)
		environment = archive_find_plane(b->view->archives[b->host], PLANE_ENVIRONMENT);
	if (environment)
		name = archive_plane_copy_text(environment, "proftap_target_name");
	return name ? name : strdup(plane->name[0] ? plane->name : "(unnamed)");
}

static void describe_device(
	struct view_builder *b, struct view_process *p, const struct archive_plane *plane)
{
	p->is_device = plane_is_device(plane);
	p->device = p->is_device ? b->n_devices++ : -1;
	p->local_device = p->is_device ? find_local_device(plane) : -1;
}

/* Adds a process. Returns its index, or -ENOMEM. */
static int64_t add_process(struct view_builder *b, const struct archive_plane *plane, int64_t pid)
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
	p->descendant_of = archive_plane_find_int(plane, "ptap_descendant_of");
	p->name = name_process(b, plane);
	return p->name ? (int64_t)v->n_processes++ : -ENOMEM;
}

/*
 * Adds |key| if it is new. Returns its number, an index for which b->processes_of_keys has room;
 * NAMES_NONE: out of memory.
 */
static uint32_t take_key(struct view_builder *b, const char *key, bool *is_new)
{
	uint32_t n_known = b->keys.n_texts;
	uint32_t k = names_intern(&b->keys, key, strlen(key));

	*is_new = k == n_known;
	return k == NAMES_NONE ||
			       grow(&b->processes_of_keys, &b->n_processes_of_keys, (size_t)k + 1)
		       ? NAMES_NONE
		       : k;
}

/*
 * Returns the index of the process that has the pid on the host, which is a new one if need be, or
 * -ENOMEM.
 */
static int64_t take_by_pid(struct view_builder *b, const struct archive_plane *plane, int64_t pid)
{
	char key[48];
	bool is_new;
	uint32_t k;
	int64_t i;

	snprintf(key, sizeof key, "%u %lld", b->host, (long long)pid);
	k = take_key(b, key, &is_new);
	if (k == NAMES_NONE)
		return -ENOMEM;
	if (!is_new) {
		i = b->processes_of_keys[k];
		if (!archive_plane_find(plane, "ptap_descendant_of"))
			b->view->processes[i].descendant_of = 0;
		return i;
	}
	i = add_process(b, plane, pid);
	b->processes_of_keys[k] = (uint32_t)i;
	return i;
}

/*
 * Adds a process for a GPU. Returns its index, or -ENOMEM. If several GPUs have the same key, the
 * key stands for the first one.
 */
static int64_t add_gpu(struct view_builder *b, const struct archive_plane *plane, const char *key)
{
	bool is_new;
	uint32_t k = take_key(b, key, &is_new);
	int64_t i = k == NAMES_NONE ? -ENOMEM : add_process(b, plane, 0);

	if (i >= 0 && is_new)
		b->processes_of_keys[k] = (uint32_t)i;
	return i;
}

/*
 * Returns the index of the process of the device that a plane stands beside, or of a new process;
 * or -ENOMEM.
 */
static int64_t take_device(struct view_builder *b, const struct archive_plane *plane)
{
	bool is_beside =
		strncmp(plane->name, PLANE_BESIDE_DEVICE, strlen(PLANE_BESIDE_DEVICE)) == 0;
	bool is_gpu = strncmp(plane->name, PLANE_DEVICE, strlen(PLANE_DEVICE)) == 0;
	size_t n_prefix = strlen(is_beside ? PLANE_BESIDE_DEVICE : PLANE_DEVICE);
	char *key;
	uint32_t k;
	int64_t i;

	if (!is_beside && !is_gpu)
		return add_process(b, plane, 0);
	if (asprintf(&key, "%u " PLANE_DEVICE "%s", b->host, plane->name + n_prefix) < 0)
		return -ENOMEM;
	k = is_beside ? names_find(&b->keys, key) : NAMES_NONE;
	if (k != NAMES_NONE)
		i = b->processes_of_keys[k];
	else
		i = is_gpu ? add_gpu(b, plane, key) : add_process(b, plane, 0);
	free(key);
	return i;
}

static int64_t take_process(struct view_builder *b, const struct archive_plane *plane)
{
	int64_t pid = archive_plane_find_pid(plane);

	if (plane_is_device(plane))
		return take_device(b, plane);
	if (!pid && strncmp(plane->name, "/host:", 6) == 0)
		pid = b->host_pid;
	return pid ? take_by_pid(b, plane, pid) : add_process(b, plane, 0);
}

/* --- derived lines ------------------------------------------------------------------------- */

/*
 * Derived lines repeat the contents of other lines: XLA sums a device's operations up to steps,
 * modules, name scopes and lines of source, each on a line of its own beside the operations. The
 * lines of a plane beside a device's own (trace/model/space.h) are derived, too: for example, the
 * host's waits for the device are also on the host's threads. Viewers draw derived lines like any
 * other, but sums of times leave them out.
 */

/*
 * Range of the ids that XLA's trace_utils.h reserves for derived lines; they have 32 bits there,
 * with a sign or without.
 */
#define FIRST_ID INT64_C(0xdeadbeef)
#define N_IDS 390
#define TOP (INT64_C(1) << 32)

#define TPU "/device:TPU:"
#define BESIDE PLANE_BESIDE_DEVICE

static const char *const operation_lines[] = {
	"XLA Ops",
	"Async XLA Ops",
	"Sparse Core Ops",
};

static bool has_derived_id(const struct archive_line *line)
{
	int64_t id = line->id < 0 && line->id >= -TOP ? line->id + TOP : line->id;

	return id >= FIRST_ID && id < FIRST_ID + N_IDS;
}

static bool has_operations(const struct archive_line *line)
{
	for (size_t i = 0; i < sizeof operation_lines / sizeof *operation_lines; i++)
		if (strcmp(line->name, operation_lines[i]) == 0)
			return true;
	return false;
}

/* The ids of lines of TPUs mean nothing: there all lines but those with operations are derived. */
static bool line_is_derived(const struct archive_plane *plane, const struct archive_line *line)
{
	if (has_derived_id(line) || strncmp(plane->name, BESIDE, sizeof BESIDE - 1) == 0)
		return true;
	return strncmp(plane->name, TPU, sizeof TPU - 1) == 0 && !has_operations(line);
}

/* --- tracks -------------------------------------------------------------------------------- */

static enum track_kind find_track_kind(const struct view_process *p,
	const struct archive_plane *plane, const struct archive_line *line)
{
	if (plane->kind == PLANE_OF_SAMPLES)
		return TRACK_SAMPLES;
	if (plane->kind == PLANE_OF_STATES)
		return TRACK_STATES;
	if (line->is_counters)
		return TRACK_COUNTERS;
	if (p->is_device)
		return TRACK_STREAM;
	return line->is_async ? TRACK_ASYNC : TRACK_THREAD;
}

static int append_track(
	struct view_track **v, size_t *n, size_t *n_allocated, const struct view_track *t)
{
	if (grow(v, n_allocated, *n + 1))
		return -ENOMEM;
	(*v)[(*n)++] = *t;
	return 0;
}

/* Adds the track to the view's tracks, samples or states. */
static int put_track(struct view *v, const struct view_track *t)
{
	if (t->kind == TRACK_SAMPLES)
		return append_track(&v->samples, &v->n_samples, &v->n_samples_allocated, t);
	if (t->kind == TRACK_STATES)
		return append_track(&v->states, &v->n_states, &v->n_states_allocated, t);
	return append_track(&v->tracks, &v->n_tracks, &v->n_tracks_allocated, t);
}

static int add_track(struct view *v, uint32_t process, const struct archive_plane *plane,
	const struct archive_line *line)
{
	const struct view_process *p = &v->processes[process];
	struct view_track t = {
		.kind = find_track_kind(p, plane, line), .plane = plane, .line = line};

	t.row_plane = plane;
	t.row_line = line;
	t.host = p->host;
	t.process = process;
	t.origin = process;
	t.n_events = line->n_events;
	t.is_derived =
		(t.kind == TRACK_THREAD || t.kind == TRACK_STREAM) && line_is_derived(plane, line);
	t.tid = line->id;
	t.origin_tid = t.tid;
	t.is_real = (t.kind == TRACK_THREAD || t.kind == TRACK_SAMPLES || t.kind == TRACK_STATES) &&
		    p->is_real && t.tid > 0 && t.tid <= MAX_REAL;
	t.is_origin_real = t.is_real;
	t.name = strdup(line->name[0] ? line->name : "(unnamed)");
	t.origin_name = t.name ? strdup(t.name) : NULL;
	if (!t.origin_name || put_track(v, &t)) {
		free(t.name);
		free(t.origin_name);
		return -ENOMEM;
	}
	return 0;
}

static void view_add_times(
	struct view *v, const struct view_host *host, const struct archive_line *line)
{
	int64_t first_ns = add_saturated(line->first_ns, host->shift_ns);
	int64_t end_ns = add_saturated(line->end_ns, host->shift_ns);

	if (v->n_events == 0 || first_ns < v->first_ns)
		v->first_ns = first_ns;
	if (v->n_events == 0 || end_ns > v->end_ns)
		v->end_ns = end_ns;
	v->n_events += line->n_events;
}

static int view_add_plane(struct view_builder *b, const struct archive_plane *plane)
{
	struct view *v = b->view;
	int64_t process;
	int r = 0;

	if (plane->n_lines == 0)
		return 0;
	process = take_process(b, plane);
	if (process < 0)
		return -ENOMEM;
	for (size_t i = 0; i < plane->n_lines && r == 0; i++) {
		view_add_times(v, &v->hosts[b->host], &plane->lines[i]);
		r = add_track(v, (uint32_t)process, plane, &plane->lines[i]);
	}
	return r;
}

/*
 * Returns the pid that the client wrote into a trace of another make, beside the name that
 * name_process() reads.
 */
static int64_t find_target_pid(const struct archive_plane *environment)
{
	int64_t pid = environment ? archive_plane_find_int(environment, "proftap_target_pid") : 0;

	return pid > 0 && pid <= MAX_REAL ? pid : 0;
}

static int view_add_planes(struct view *v)
{
	struct view_builder b = {.view = v};
	int r = 0;

	for (; b.host < v->n_archives && r == 0; b.host++) {
		const struct archive *s = v->archives[b.host];

		b.host_pid = archive_plane_find_pid(archive_find_plane(s, PLANE_HOST));
		if (!b.host_pid)
			b.host_pid = find_target_pid(archive_find_plane(s, PLANE_ENVIRONMENT));

		for (size_t i = 0; i < s->n_planes && r == 0; i++)
			r = view_add_plane(&b, &s->planes[i]);
	}
	names_deinit(&b.keys);
	free(b.processes_of_keys);
	return r;
}

/* --- order and ids ------------------------------------------------------------------------- */

/* Sorts the tracks of a process by plane and line: it may have several planes. */
static int compare_track_places(const void *left, const void *right)
{
	const struct view_track *a = left;
	const struct view_track *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->row_plane != b->row_plane)
		return a->row_plane < b->row_plane ? -1 : 1;
	if (a->row_line != b->row_line)
		return a->row_line < b->row_line ? -1 : 1;
	if (view_track_is_second(a) != view_track_is_second(b))
		return view_track_is_second(a) ? 1 : -1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static int compare_track_ids(const void *left, const void *right)
{
	const struct view_track *a = left;
	const struct view_track *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->is_real != b->is_real)
		return a->is_real ? -1 : 1;
	return compare_track_places(left, right);
}

/*
 * If several tracks of a process have the same real tid, only the first one keeps it. The others
 * lose their tids, and get made-up ones later.
 */
static void make_up_tids(struct view *v)
{
	const struct view_track *last = NULL;

	qsort(v->tracks, v->n_tracks, sizeof *v->tracks, compare_track_ids);
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

/* Gives the track the name and id of the first track of its thread. */
static int draw_as_first(struct view_track *t)
{
	const struct view_track *first = view_track_get_first(t);

	free(t->name);
	free(t->origin_name);
	t->name = strdup(first->name);
	t->origin_name = strdup(first->origin_name);
	t->tid = first->tid;
	t->is_real = first->is_real;
	return t->name && t->origin_name ? 0 : -ENOMEM;
}

int view_add_tracks(struct view *v)
{
	int r = view_add_planes(v);

	if (r == 0)
		r = stock_threads_join(v);
	for (size_t i = 0; i < v->n_samples; i++)
		if (!v->samples[i].is_real)
			v->samples[i].tid = VIEW_MADE_UP + (int64_t)(v->n_tracks + i);
	for (size_t i = 0; i < v->n_states; i++)
		if (!v->states[i].is_real)
			v->states[i].tid = VIEW_MADE_UP + (int64_t)(v->n_tracks + v->n_samples + i);
	if (r || !v->n_tracks)
		return r;
	make_up_tids(v);
	qsort(v->tracks, v->n_tracks, sizeof *v->tracks, compare_track_places);
	for (size_t i = 0; i < v->n_tracks; i++) {
		struct view_track *t = &v->tracks[i];

		if (!t->is_real)
			t->tid = VIEW_MADE_UP + (int64_t)i;
		if (view_track_is_second(t) && draw_as_first(t))
			return -ENOMEM;
		t->origin_tid = t->tid;
		t->is_origin_real = t->is_real;
	}
	return 0;
}

int64_t view_track_get_tid(const struct view_track *t)
{
	bool is_given = t->kind == TRACK_THREAD && !t->is_origin_real && !t->is_derived &&
			t->tid == t->origin_tid && (t->line->id < 0 || t->line->id > MAX_REAL);

	return is_given ? t->line->id : t->tid;
}
