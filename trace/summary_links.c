/* SPDX-License-Identifier: Apache-2.0 */
/* What joins threads: the async spans and the flows of a plane, each by name; see summary.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "trace/percentile.h"
#include "trace/space.h"
#include "trace/summary.h"

/* Finds the row of a name in an array that has room for one of each name. */
static size_t find_row(uint32_t *row_of_name, uint32_t name, size_t *n_rows)
{
	if (!row_of_name[name])
		row_of_name[name] = (uint32_t)++ * n_rows;
	return row_of_name[name] - 1;
}

/* --- async spans --------------------------------------------------------------------------- */

static int compare_rows(const void *left, const void *right, void *names)
{
	const struct summary_row *a = left;
	const struct summary_row *b = right;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return strcmp(names_get(names, a->name), names_get(names, b->name));
}

/* The async spans of a plane, for two passes: their rows, then their durations. */
struct async_summer {
	struct summary *summary;
	struct summary_keys keys;
	uint32_t *row_of_name;
	int64_t *durations; /* row after row */
	size_t *next; /* where in |durations| the row's next one goes; afterwards the row's end */
};

typedef void async_pass(struct async_summer *s, const struct trace_event *event);

static void for_each_async(struct async_summer *s, async_pass *pass)
{
	const struct plane *plane = s->summary->plane;

	for (size_t i = 0; i < plane->n_lines; i++) {
		const struct line *line = &plane->lines[i];

		if (line_is_counters(line) || !line_is_async(plane, &s->keys, line))
			continue;
		for (size_t k = 0; k < line->n_events; k++)
			pass(s, &line->events[k]);
	}
}

static void count_async(struct async_summer *s, const struct trace_event *event)
{
	size_t at = find_row(s->row_of_name, event->name, &s->summary->n_asyncs);
	struct summary_row *row = &s->summary->asyncs[at];

	if (!row->count)
		*row = (struct summary_row){.name = event->name, .min_ns = INT64_MAX};
	summary_row_count(
		row, event->duration_ns, event_is_unfinished(s->summary->plane, &s->keys, event));
}

static void keep_duration(struct async_summer *s, const struct trace_event *event)
{
	s->durations[s->next[s->row_of_name[event->name] - 1]++] = event->duration_ns;
}

static int sum_percentiles(struct async_summer *s)
{
	struct summary *summary = s->summary;
	_cleanup_free_ size_t *next = calloc(summary->n_asyncs + 1, sizeof *next);
	_cleanup_free_ int64_t *durations = NULL;
	size_t n = 0;

	for (size_t i = 0; next && i < summary->n_asyncs; i++) {
		next[i] = n;
		n += summary->asyncs[i].count;
	}
	durations = calloc(n + 1, sizeof *durations);
	if (!next || !durations)
		return -ENOMEM;
	s->durations = durations;
	s->next = next;
	for_each_async(s, keep_duration);
	for (size_t i = 0; i < summary->n_asyncs; i++) {
		struct summary_row *row = &summary->asyncs[i];
		int64_t *first = durations + next[i] - row->count;

		row->p50_ns = percentile_select(first, row->count, 50);
		row->p99_ns = percentile_select(first, row->count, 99);
	}
	return 0;
}

int summary_add_asyncs(struct summary *summary)
{
	size_t n_names = (size_t)summary->plane->event_names.n_texts + 1;
	_cleanup_free_ uint32_t *row_of_name = NULL;
	struct async_summer s = {.summary = summary};
	int rc;

	summary_keys_init(&s.keys, summary->plane);
	if (s.keys.async == NAMES_NONE)
		return 0;
	row_of_name = calloc(n_names, sizeof *row_of_name);
	summary->asyncs = calloc(n_names, sizeof *summary->asyncs);
	if (!row_of_name || !summary->asyncs)
		return -ENOMEM;
	s.row_of_name = row_of_name;
	for_each_async(&s, count_async);
	rc = sum_percentiles(&s);
	if (rc == 0 && summary->n_asyncs)
		qsort_r(summary->asyncs, summary->n_asyncs, sizeof *summary->asyncs, compare_rows,
			(void *)&summary->plane->event_names);
	return rc;
}

/* --- flows --------------------------------------------------------------------------------- */

static void sum_flows_of_line(struct summary *summary, const struct summary_keys *keys,
	const struct line *line, uint32_t *row_of_name)
{
	for (size_t i = 0; i < line->n_events; i++) {
		const struct trace_event *event = &line->events[i];
		bool is_out = event_is_flow_out(summary->plane, keys, event);
		bool is_in = event_is_flow_in(summary->plane, keys, event);
		struct summary_flow *flow;

		if (!is_out && !is_in)
			continue;
		flow = &summary->flows[find_row(row_of_name, event->name, &summary->n_flows)];
		flow->name = event->name;
		flow->n_out += is_out;
		flow->n_in += is_in;
	}
}

int summary_add_flows(struct summary *summary)
{
	const struct plane *plane = summary->plane;
	size_t n_names = (size_t)plane->event_names.n_texts + 1;
	_cleanup_free_ uint32_t *row_of_name = NULL;
	struct summary_keys keys;

	summary_keys_init(&keys, plane);
	if (keys.producer == NAMES_NONE && keys.consumer == NAMES_NONE)
		return 0;
	row_of_name = calloc(n_names, sizeof *row_of_name);
	summary->flows = calloc(n_names, sizeof *summary->flows);
	if (!row_of_name || !summary->flows)
		return -ENOMEM;
	for (size_t i = 0; i < plane->n_lines; i++)
		sum_flows_of_line(summary, &keys, &plane->lines[i], row_of_name);
	return 0;
}
