/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groupings; see grouping.h. Each track's attributes are written out as one text, primary and secondary: texts that are equal
 * are one process, and one row.
 */
#include "trace/read/grouping.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/names.h"
#include "trace/read/view.h"

#define MAX_TEXT 1024

struct regrouping {
	const struct grouping *grouping;
	struct view *view;
	struct view_process *processes; /* one for each of |primary| */
	struct names primary;
	struct names rows; /* the process's index and the secondary attributes */
	uint32_t *n_tracks; /* of each of |rows| */
};

bool grouping_is_plain(const struct grouping *g)
{
	return g->primary.n == 2 && g->primary.v[0] == GROUP_HOST && g->primary.v[1] == GROUP_PID &&
	       g->secondary.n == 1 && g->secondary.v[0] == GROUP_TID;
}

/* --- attributes ---------------------------------------------------------------------------- */

static const char *const categories[] = {
	[TRACK_THREAD] = "threads",
	[TRACK_STREAM] = "device",
	[TRACK_ASYNC] = "async",
	[TRACK_COUNTERS] = "counters",
};

static int write_number(char *out, size_t n, const char *what, int64_t number)
{
	return number < 0 ? snprintf(out, n, "no %s", what)
			  : snprintf(out, n, "%s %" PRId64, what, number);
}

/* Kept short: it is what the row is called. */
static int write_attribute(const struct view *v, const struct view_track *t,
	enum grouping_attribute which, char *out, size_t n)
{
	const struct view_process *p = view_get_origin(v, t);

	switch (which) {
	case GROUP_HOST:
		return snprintf(out, n, "%.200s", v->hosts[p->host].name);
	case GROUP_PID:
		return write_number(out, n, "pid", p->is_real ? p->pid : -1);
	case GROUP_PROCESS:
		return snprintf(out, n, "%.200s", p->name);
	case GROUP_RANK:
		return write_number(out, n, "rank", p->host);
	case GROUP_DEVICE:
		return write_number(out, n, "device", p->device);
	case GROUP_LOCAL_DEVICE:
		return write_number(out, n, "local device", p->local_device);
	case GROUP_STREAM:
		return snprintf(out, n, "%.200s", p->is_device ? t->name : "no stream");
	case GROUP_TID:
		return write_number(out, n, "tid", p->is_device ? -1 : t->tid);
	case GROUP_THREAD:
		return snprintf(out, n, "%.200s", p->is_device ? "no thread" : t->name);
	case GROUP_CATEGORY:
		return snprintf(out, n, "%s", categories[t->kind]);
	case N_GROUPINGS:
		break;
	}
	return 0;
}

/* "gpu7 · pid 4242" */
static void write_list(const struct view *v, const struct view_track *t,
	const struct grouping_list *list, char out[MAX_TEXT])
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < list->n; i++) {
		char text[256];

		write_attribute(v, t, list->v[i], text, sizeof text);
		used += (size_t)snprintf(
			out + used, MAX_TEXT - used, "%s%s", i ? " \xc2\xb7 " : "", text);
		if (used >= MAX_TEXT)
			return;
	}
}

/* --- processes ----------------------------------------------------------------------------- */

static int add_process(struct regrouping *r, const struct view_track *t, const char *name)
{
	const struct view_process *origin = view_get_origin(r->view, t);
	uint32_t i = r->primary.n_texts - 1;
	struct view_process *p = &r->processes[i];

	*p = (struct view_process){.host = origin->host, .device = -1, .local_device = -1};
	p->pid = i + 1;
	p->name = strdup(name);
	return p->name ? 0 : -ENOMEM;
}

static int place_process(struct regrouping *r, struct view_track *t)
{
	uint32_t n_before = r->primary.n_texts;
	char text[MAX_TEXT];
	uint32_t i;

	write_list(r->view, t, &r->grouping->primary, text);
	i = names_intern(&r->primary, text, strlen(text));
	if (i == NAMES_NONE)
		return -ENOMEM;
	if (i == n_before && add_process(r, t, text))
		return -ENOMEM;
	t->process = i;
	return 0;
}

/* --- rows ---------------------------------------------------------------------------------- */

static int rename_row(struct view_track *t, const char *name)
{
	char *copy = strdup(name);

	if (!copy)
		return -ENOMEM;
	free(t->name);
	t->name = copy;
	return 0;
}

/* Counters are not rows: they keep their names. */
static int place_row(struct regrouping *r, struct view_track *t)
{
	char text[MAX_TEXT];
	char key[MAX_TEXT + 16];
	uint32_t i;

	write_list(r->view, t, &r->grouping->secondary, text);
	snprintf(key, sizeof key, "%u %s", t->process, text);
	i = names_intern(&r->rows, key, strlen(key));
	if (i == NAMES_NONE)
		return -ENOMEM;
	r->n_tracks[i]++;
	t->row = i;
	t->tid = (int64_t)i + 1;
	t->is_real = false;
	return t->kind == TRACK_COUNTERS ? 0 : rename_row(t, text);
}

/* As a view has them: those of a process next to each other. */
static int compare_tracks(const void *left, const void *right)
{
	const struct view_track *a = left;
	const struct view_track *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

/* --- the whole ----------------------------------------------------------------------------- */

static int regroup(struct regrouping *r)
{
	struct view *v = r->view;
	int rc = 0;

	for (size_t i = 0; i < v->n_tracks && rc == 0; i++) {
		rc = place_process(r, &v->tracks[i]);
		if (rc == 0)
			rc = place_row(r, &v->tracks[i]);
	}
	for (size_t i = 0; i < v->n_tracks && rc == 0; i++)
		v->tracks[i].is_shared = r->n_tracks[v->tracks[i].row] > 1;
	return rc;
}

int grouping_apply(const struct grouping *g, struct view *v)
{
	struct regrouping r = {.grouping = g, .view = v};
	int rc = -ENOMEM;

	if (grouping_is_plain(g) || !v->n_tracks)
		return 0;
	r.processes = calloc(v->n_tracks, sizeof *r.processes);
	r.n_tracks = calloc(v->n_tracks, sizeof *r.n_tracks);
	if (r.processes && r.n_tracks)
		rc = regroup(&r);
	if (rc == 0)
		qsort(v->tracks, v->n_tracks, sizeof *v->tracks, compare_tracks);
	v->processes = r.processes;
	v->n_processes = r.primary.n_texts;
	names_deinit(&r.primary);
	names_deinit(&r.rows);
	free(r.n_tracks);
	return rc;
}
