/* SPDX-License-Identifier: Apache-2.0 */
/* Gives each use of a flow id an id of its own. */
#include "trace/read/flow_uses.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/grow.h"
#include "trace/read/archive.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/saturate.h"

/* A range of the view's time in which records are missing, both ends included. */
struct missing {
	int64_t from_ns;
	int64_t until_ns;
};

struct use_reading {
	struct view *view;
	uint32_t track; /* the track that is being read */
	struct flow_uses all;
	struct missing *missing;
	size_t n_missing;
	size_t n_missing_allocated;
	uint8_t *is_used_again; /* by index of view->names */
	uint64_t n_lone; /* arriving ends that join nothing */
};

void flow_uses_deinit(struct flow_uses *u)
{
	free(u->v);
	*u = (struct flow_uses){.v = NULL};
}

/* --- times in which records are missing ---------------------------------------------------- */

static int add_missing(struct use_reading *reading, const struct view_host *host, int64_t from_ns,
	int64_t until_ns)
{
	int64_t shift_ns = sub_saturated(host->shift_ns, host->epoch_ns);

	if (grow(&reading->missing, &reading->n_missing_allocated, reading->n_missing + 1))
		return -ENOMEM;
	reading->missing[reading->n_missing++] = (struct missing){
		from_ns == INT64_MIN ? from_ns : add_saturated(from_ns, shift_ns),
		add_saturated(until_ns, shift_ns),
	};
	return 0;
}

/* Reads "FROM-UNTIL FROM-UNTIL" (daemon/pipeline/assembly/windows.h). */
static int add_gaps(struct use_reading *reading, const struct view_host *host,
	const struct archive_plane *plane)
{
	_cleanup_free_ char *text = archive_plane_copy_text(plane, "ptap_gaps_ns");
	const char *at = text;
	int64_t from_ns;
	int64_t until_ns;
	int n = 0;
	int r = 0;

	while (at && r == 0 &&
		sscanf(at, "%" SCNd64 "-%" SCNd64 "%n", &from_ns, &until_ns, &n) == 2) {
		r = add_missing(reading, host, from_ns, until_ns);
		at += n;
	}
	return r;
}

static int add_missing_of_archive(
	struct use_reading *reading, const struct view_host *host, const struct archive *a)
{
	int r = 0;

	for (size_t i = 0; i < a->n_planes && r == 0; i++) {
		const struct archive_plane *plane = &a->planes[i];
		int64_t since_ns = archive_plane_find_int(plane, "ptap_complete_since_ns");

		if (since_ns > 0 && a == host->archive)
			r = add_missing(reading, host, INT64_MIN, since_ns - 1);
		if (r == 0)
			r = add_gaps(reading, host, plane);
	}
	return r;
}

static int compare_missing(const void *left, const void *right)
{
	const struct missing *a = left;
	const struct missing *b = right;

	return (a->from_ns > b->from_ns) - (a->from_ns < b->from_ns);
}

/* Sorts the gaps, and merges those that overlap. */
static void merge_missing(struct use_reading *reading)
{
	size_t n = 0;

	if (!reading->n_missing)
		return;
	qsort(reading->missing, reading->n_missing, sizeof *reading->missing, compare_missing);
	for (size_t i = 1; i < reading->n_missing; i++) {
		if (reading->missing[i].from_ns > reading->missing[n].until_ns)
			reading->missing[++n] = reading->missing[i];
		else if (reading->missing[i].until_ns > reading->missing[n].until_ns)
			reading->missing[n].until_ns = reading->missing[i].until_ns;
	}
	reading->n_missing = n + 1;
}

static int find_missing(struct use_reading *reading)
{
	int r = 0;

	for (size_t i = 0; i < reading->view->n_archives && r == 0; i++) {
		const struct view_host *host = &reading->view->hosts[i];

		if (!host->is_ours || host->epoch_ns <= 0)
			continue;
		r = add_missing_of_archive(reading, host, host->archive);
		for (size_t k = 0; k < host->archive->n_joined && r == 0; k++)
			r = add_missing_of_archive(reading, host, host->archive->joined[k]);
	}
	merge_missing(reading);
	return r;
}

/* True if a record from |after_ns| to |before_ns| may be missing. */
static bool record_may_be_missing(
	const struct use_reading *reading, int64_t after_ns, int64_t before_ns)
{
	size_t low = 0;
	size_t high = reading->n_missing;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (reading->missing[middle].until_ns < after_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < reading->n_missing && reading->missing[low].from_ns <= before_ns;
}

/* --- marks --------------------------------------------------------------------------------- */

static bool plane_has_flows(const struct archive_plane *plane)
{
	for (uint32_t i = 0; i < plane->stat_names.n_texts; i++)
		if (plane->roles[i] == ROLE_PRODUCER || plane->roles[i] == ROLE_CONSUMER)
			return true;
	return false;
}

static bool track_has_flow_marks(const struct view *view, const struct view_track *track)
{
	const struct archive_line *line = track->line;
	bool has = plane_has_flows(track->plane);

	if (track->kind != TRACK_THREAD || track->is_derived || !view->hosts[track->host].is_ours)
		return false;
	for (; line && !has; line = line->next)
		has = line->dictionary && plane_has_flows(line->dictionary);
	return has;
}

static int add_end(struct use_reading *reading, const struct item *item, uint64_t flow, bool is_in)
{
	struct flow_uses *all = &reading->all;

	if (!flow)
		return 0;
	if (grow(&all->v, &all->n_allocated, all->n + 1))
		return -ENOMEM;
	all->v[all->n++] = (struct flow_use){
		.flow = flow,
		.use = flow,
		.ns = item->start_ns,
		.track = reading->track,
		.name = item->name,
		.is_in = is_in,
	};
	return 0;
}

/*
 * Takes only instants, which are proftap's flow marks. A span with a flow is a launch, and its id
 * is a number that the device's library gave.
 */
static int add_ends(void *reading, const struct item *item)
{
	if (item->kind != ITEM_INSTANT)
		return 0;
	return add_end(reading, item, item->flow_out, false) ||
			       add_end(reading, item, item->flow_in, true)
		       ? -ENOMEM
		       : 0;
}

static int read_ends(struct use_reading *reading, struct diag *d)
{
	struct view *view = reading->view;
	int r = 0;

	view->is_being_selected = true;
	for (size_t i = 0; i < view->n_tracks && r == 0; i++) {
		reading->track = (uint32_t)i;
		if (track_has_flow_marks(view, &view->tracks[i]))
			r = cursor_read(view, &view->tracks[i], add_ends, reading, d);
	}
	view->is_being_selected = false;
	return r;
}

/* --- uses ---------------------------------------------------------------------------------- */

static int compare_by_flow(const void *left, const void *right)
{
	const struct flow_use *a = left;
	const struct flow_use *b = right;

	if (a->flow != b->flow)
		return a->flow < b->flow ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return a->is_in - b->is_in;
}

static int compare_by_place(const void *left, const void *right)
{
	const struct flow_use *a = left;
	const struct flow_use *b = right;

	if (a->track != b->track)
		return a->track < b->track ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	if (a->flow != b->flow)
		return a->flow < b->flow ? -1 : 1;
	return a->is_in - b->is_in;
}

static size_t find_end_of_flow(const struct flow_uses *u, size_t first)
{
	size_t end = first + 1;

	while (end < u->n && u->v[end].flow == u->v[first].flow)
		end++;
	return end;
}

/* True if the ends from |first| to before |end|, all of one id, belong to more than one use. */
static bool flow_is_used_twice(const struct flow_use *v, size_t first, size_t end)
{
	size_t n_out = 0;

	for (size_t i = first; i < end; i++)
		n_out += !v[i].is_in;
	/*
	 * An end may arrive before the only one that leaves, and still belong to it: the clocks of
	 * two machines differ.
	 */
	return n_out > 1;
}

/*
 * Makes the id of a use, never 0. As with flows, 64 mixed bits make it different from all other ids
 * with near certainty.
 */
static uint64_t make_use(uint64_t flow, uint64_t number)
{
	uint64_t use = flow_id_mix(flow + (number + 1) * UINT64_C(0x9e3779b97f4a7c15));

	return use ? use : 1;
}

/* Gives ids of uses to the ends from |first| to before |end|, which are all ends of one flow id. */
static void number_uses(struct use_reading *reading, size_t first, size_t end)
{
	struct flow_use *v = reading->all.v;
	bool is_twice = flow_is_used_twice(v, first, end);
	bool is_sure = !reading->is_used_again[v[first].name];
	const struct flow_use *out = NULL;
	uint64_t number = 0;

	for (size_t i = first; i < end; i++) {
		if (!v[i].is_in) {
			out = &v[i];
			number++;
		}
		if (is_twice)
			v[i].use = make_use(v[i].flow, number);
		if (v[i].is_in && !is_sure &&
			record_may_be_missing(reading, out ? out->ns : INT64_MIN, v[i].ns)) {
			v[i].use = 0;
			reading->n_lone++;
		}
	}
}

static void number_all_uses(struct use_reading *reading)
{
	struct flow_uses *u = &reading->all;
	size_t n = 0;

	if (u->n)
		qsort(u->v, u->n, sizeof *u->v, compare_by_flow);
	for (size_t i = 0, next; i < u->n; i = next) {
		next = find_end_of_flow(u, i);
		if (flow_is_used_twice(u->v, i, next))
			reading->is_used_again[u->v[i].name] = 1;
	}
	for (size_t i = 0, next; i < u->n; i = next) {
		next = find_end_of_flow(u, i);
		number_uses(reading, i, next);
	}
	for (size_t i = 0; i < u->n; i++)
		if (u->v[i].use != u->v[i].flow)
			u->v[n++] = u->v[i];
	u->n = n;
	if (n)
		qsort(u->v, n, sizeof *u->v, compare_by_place);
}

static int note_lone(const struct use_reading *reading)
{
	char text[256];
	int n;

	if (!reading->n_lone)
		return 0;
	n = snprintf(text, sizeof text,
		"%" PRIu64
		" ends of flows are not joined: records were lost before them, and the program "
		"used their ids again, so the begins of these flows are not known",
		reading->n_lone);
	return names_intern(&reading->view->notes, text, (size_t)n) == NAMES_NONE ? -ENOMEM : 0;
}

int flow_uses_make(struct view *view, struct diag *d)
{
	struct use_reading reading = {.view = view};
	int r = read_ends(&reading, d);

	if (r == 0 && reading.all.n) {
		reading.is_used_again = calloc((size_t)view->names.n_texts + 1, 1);
		r = reading.is_used_again ? find_missing(&reading) : -ENOMEM;
		if (r == 0)
			number_all_uses(&reading);
		if (r == 0)
			r = note_lone(&reading);
	}
	free(reading.is_used_again);
	free(reading.missing);
	view->flow_uses = reading.all;
	return r;
}

static uint64_t find_use(const struct view *view, const struct flow_use *end)
{
	const struct flow_uses *u = &view->flow_uses;
	const struct flow_use *use =
		end->flow ? bsearch(end, u->v, u->n, sizeof *u->v, compare_by_place) : NULL;

	return use ? use->use : end->flow;
}

void flow_uses_apply(const struct view *view, const struct view_track *track, struct item *item)
{
	struct flow_use end = {
		.flow = item->flow_out,
		.ns = item->start_ns,
		.track = (uint32_t)(track - view->tracks),
	};

	if (!view->flow_uses.n || item->kind != ITEM_INSTANT)
		return;
	item->flow_out = find_use(view, &end);
	end.flow = item->flow_in;
	end.is_in = true;
	item->flow_in = find_use(view, &end);
}
