/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups tracks. The primary attributes of a track are written as one text, and the secondary ones
 * as another: tracks with equal texts get one process, and one row.
 */
#include "trace/read/grouping.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "trace/model/names.h"
#include "trace/read/view.h"

/* --- names of attributes ------------------------------------------------------------------- */

static const struct {
	const char *name;
	enum grouping_attribute attribute;
} attribute_words[] = {
	{"host", GROUP_HOST},
	{"pid", GROUP_PID},
	{"process", GROUP_PROCESS},
	{"rank", GROUP_RANK},
	{"device", GROUP_DEVICE},
	{"local_device", GROUP_LOCAL_DEVICE},
	{"stream", GROUP_STREAM},
	{"tid", GROUP_TID},
	{"thread", GROUP_THREAD},
	{"category", GROUP_CATEGORY},
	/* Neuron's names: */
	{"instance_id", GROUP_HOST},
	{"process_id", GROUP_PID},
	{"thread_id", GROUP_TID},
	{"lnc_idx", GROUP_LOCAL_DEVICE},
	{"worker_gid", GROUP_DEVICE},
};

static bool find_attribute(const char *word, size_t n, enum grouping_attribute *out)
{
	for (size_t i = 0; i < sizeof attribute_words / sizeof attribute_words[0]; i++) {
		if (strlen(attribute_words[i].name) == n &&
			memcmp(attribute_words[i].name, word, n) == 0) {
			*out = attribute_words[i].attribute;
			return true;
		}
	}
	return false;
}

static void list_attribute_words(char *out, size_t n)
{
	size_t used = 0;

	for (size_t i = 0; i < sizeof attribute_words / sizeof attribute_words[0] && used < n; i++)
		used += (size_t)snprintf(
			out + used, n - used, "%s%s", i ? ", " : "", attribute_words[i].name);
}

static int fail_attribute_value(const char *option, const char *value, struct diag *d)
{
	char names[256];

	list_attribute_words(names, sizeof names);
	return diag_set(d, -EINVAL,
		"%s: bad value \"%.64s\": must be some of %s, with commas between them", option,
		value, names);
}

int grouping_list_parse(
	struct grouping_list *list, const char *option, const char *value, struct diag *d)
{
	list->n = 0;
	for (const char *p = value;; p++) {
		size_t n = strcspn(p, ",");

		if (list->n == GROUPING_MAX || !find_attribute(p, n, &list->v[list->n]))
			return fail_attribute_value(option, value, d);
		list->n++;
		p += n;
		if (!*p)
			return 0;
	}
}

struct regrouping {
	const struct grouping *grouping;
	struct view *view;
	struct view_process *processes; /* one for each text in |primary| */
	struct names primary; /* primary attributes */
	struct names rows; /* the process's index and the secondary attributes */
	uint32_t *n_tracks; /* number of tracks for each text in |rows| */
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

/* A thread without a tid of the kernel is identified by its name alone. */
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

/* Writes a text such as "gpu7 · pid 4242"; the caller frees it. NULL: out of memory. */
static char *write_attributes(
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

static int add_process(struct regrouping *rg, const struct view_track *t, const char *name)
{
	const struct view_process *origin = view_get_origin(rg->view, t);
	uint32_t i = rg->primary.n_texts - 1;
	struct view_process *p = &rg->processes[i];

	*p = (struct view_process){.host = origin->host, .device = -1, .local_device = -1};
	p->pid = i + 1;
	p->name = strdup(name);
	return p->name ? 0 : -ENOMEM;
}

static int place_process(struct regrouping *rg, struct view_track *t)
{
	_cleanup_free_ char *text = write_attributes(rg->view, t, &rg->grouping->primary);
	uint32_t n_before = rg->primary.n_texts;
	uint32_t i = text ? names_intern(&rg->primary, text, strlen(text)) : NAMES_NONE;

	if (i == NAMES_NONE || (i == n_before && add_process(rg, t, text)))
		return -ENOMEM;
	t->process = i;
	return 0;
}

/* --- rows ---------------------------------------------------------------------------------- */

static uint32_t find_row(struct regrouping *rg, const struct view_track *t, const char *text)
{
	char *key;
	uint32_t i;

	if (asprintf(&key, "%u %s", t->process, text) < 0)
		return NAMES_NONE;
	i = names_intern(&rg->rows, key, strlen(key));
	free(key);
	return i;
}

/* Counters keep their names, since they are not rows. */
static int place_row(struct regrouping *rg, struct view_track *t)
{
	char *text = write_attributes(rg->view, t, &rg->grouping->secondary);
	uint32_t i = text ? find_row(rg, t, text) : NAMES_NONE;

	if (i == NAMES_NONE || t->kind == TRACK_COUNTERS) {
		free(text);
	} else {
		free(t->name);
		t->name = text;
	}
	if (i == NAMES_NONE)
		return -ENOMEM;
	rg->n_tracks[i]++;
	t->row = i;
	t->row_plane = t->plane;
	t->row_line = t->line;
	t->tid = (int64_t)i + 1;
	t->is_real = false;
	return 0;
}

/* Sorts the tracks of a process next to each other, as a view needs them. */
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

/* --- regrouping a view --------------------------------------------------------------------- */

static int regroup_tracks(struct regrouping *rg)
{
	struct view *v = rg->view;
	int r = 0;

	for (size_t i = 0; i < v->n_tracks && r == 0; i++) {
		r = place_process(rg, &v->tracks[i]);
		if (r == 0)
			r = place_row(rg, &v->tracks[i]);
	}
	for (size_t i = 0; i < v->n_tracks && r == 0; i++)
		v->tracks[i].is_shared = rg->n_tracks[v->tracks[i].row] > 1;
	return r;
}

int grouping_apply(const struct grouping *g, struct view *v)
{
	struct regrouping rg = {.grouping = g, .view = v};
	int r = -ENOMEM;

	if (grouping_is_plain(g) || !v->n_tracks)
		return 0;
	rg.processes = calloc(v->n_tracks, sizeof *rg.processes);
	rg.n_tracks = calloc(v->n_tracks, sizeof *rg.n_tracks);
	if (rg.processes && rg.n_tracks)
		r = regroup_tracks(&rg);
	if (r == 0)
		qsort(v->tracks, v->n_tracks, sizeof *v->tracks, compare_tracks);
	v->processes = rg.processes;
	v->n_processes = rg.primary.n_texts;
	names_deinit(&rg.primary);
	names_deinit(&rg.rows);
	free(rg.n_tracks);
	return r;
}
