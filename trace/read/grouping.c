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

#include "base/cleanup.h"
#include "trace/model/names.h"
#include "trace/read/view.h"

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

static void write_number(FILE *out, const char *what, int64_t number)
{
	if (number < 0)
		fprintf(out, "no %s", what);
	else
		fprintf(out, "%s %" PRId64, what, number);
}

/* Threads that the kernel does not know are told apart by their names alone. */
static void write_thread(FILE *out, const struct view_track *t)
{
	fputs(t->origin_name, out);
	if (t->is_origin_real)
		fprintf(out, " (%" PRId64 ")", t->origin_tid);
}

static void write_attribute(
	const struct view *v, const struct view_track *t, enum grouping_attribute which, FILE *out)
{
	const struct view_process *p = view_get_origin(v, t);

	switch (which) {
	case GROUP_HOST:
		fputs(v->hosts[p->host].name, out);
		return;
	case GROUP_PID:
		write_number(out, "pid", p->is_real ? p->pid : -1);
		return;
	case GROUP_PROCESS:
		fputs(p->name, out);
		return;
	case GROUP_RANK:
		write_number(out, "rank", p->host);
		return;
	case GROUP_DEVICE:
		write_number(out, "device", p->device);
		return;
	case GROUP_LOCAL_DEVICE:
		write_number(out, "local device", p->local_device);
		return;
	case GROUP_STREAM:
		fputs(p->is_device ? t->origin_name : "no stream", out);
		return;
	case GROUP_TID:
		write_thread(out, t);
		return;
	case GROUP_THREAD:
		fputs(p->is_device ? "no thread" : t->origin_name, out);
		return;
	case GROUP_CATEGORY:
		fputs(categories[t->kind], out);
		return;
	case N_GROUPINGS:
		return;
	}
}

/* "gpu7 · pid 4242"; the caller frees it; NULL: out of memory. */
static char *make_text(
	const struct view *v, const struct view_track *t, const struct grouping_list *list)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	if (!out)
		return NULL;
	for (size_t i = 0; i < list->n; i++) {
		if (i)
			fputs(" \xc2\xb7 ", out);
		write_attribute(v, t, list->v[i], out);
	}
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
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
	_cleanup_free_ char *text = make_text(r->view, t, &r->grouping->primary);
	uint32_t n_before = r->primary.n_texts;
	uint32_t i = text ? names_intern(&r->primary, text, strlen(text)) : NAMES_NONE;

	if (i == NAMES_NONE || (i == n_before && add_process(r, t, text)))
		return -ENOMEM;
	t->process = i;
	return 0;
}

/* --- rows ---------------------------------------------------------------------------------- */

static uint32_t find_row(struct regrouping *r, const struct view_track *t, const char *text)
{
	char *key;
	uint32_t i;

	if (asprintf(&key, "%u %s", t->process, text) < 0)
		return NAMES_NONE;
	i = names_intern(&r->rows, key, strlen(key));
	free(key);
	return i;
}

/* Counters are not rows: they keep their names. */
static int place_row(struct regrouping *r, struct view_track *t)
{
	char *text = make_text(r->view, t, &r->grouping->secondary);
	uint32_t i = text ? find_row(r, t, text) : NAMES_NONE;

	if (i == NAMES_NONE || t->kind == TRACK_COUNTERS) {
		free(text);
	} else {
		free(t->name);
		t->name = text;
	}
	if (i == NAMES_NONE)
		return -ENOMEM;
	r->n_tracks[i]++;
	t->row = i;
	t->row_plane = t->plane;
	t->row_line = t->line;
	t->tid = (int64_t)i + 1;
	t->is_real = false;
	return 0;
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
