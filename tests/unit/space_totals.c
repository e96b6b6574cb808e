/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the totals of a trace model. */
#include "tests/unit/space_totals.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "trace/model/space.h"

static bool stat_is_positive(const struct trace_stat *stat)
{
	return stat && ((stat->type == STAT_UINT64 && stat->value.u64) ||
			       (stat->type == STAT_INT64 && stat->value.i64 > 0));
}

/* Returns the event's stat of that name, or NULL. */
static const struct trace_stat *find_stat(
	const struct plane *plane, const struct trace_event *event, const char *name)
{
	uint32_t index = names_find(&plane->stat_names, name);

	return index == NAMES_NONE ? NULL : plane_find_stat(plane, event, index);
}

static bool line_is_all_async(const struct plane *plane, const struct line *line)
{
	for (size_t i = 0; i < line->n_events; i++)
		if (!stat_is_positive(find_stat(plane, &line->events[i], "_a")))
			return false;
	return true;
}

static void count_samples(const struct line *line, uint8_t *seen, struct report_totals *t)
{
	for (size_t i = 0; i < line->n_events; i++) {
		t->n_counter_samples++;
		t->n_counters += !seen[line->events[i].name];
		seen[line->events[i].name] = 1;
	}
}

static void count_thread_event(const struct plane *plane, const struct trace_event *event,
	bool is_async, struct report_totals *t)
{
	bool is_step = find_stat(plane, event, "_r") && find_stat(plane, event, "step_num");
	bool is_unfinished = stat_is_positive(find_stat(plane, event, "unfinished"));
	bool has_flow = find_stat(plane, event, "_p") || find_stat(plane, event, "_c");
	bool is_span = event->duration_ns || event->is_span || is_step || is_unfinished;

	t->n_steps += is_step;
	t->n_unfinished += is_unfinished;
	t->n_flow_marks += has_flow;
	t->n_asyncs += is_async;
	t->n_spans += !is_async && is_span;
	t->n_device_spans += !is_async && is_span && plane_name_is_device(plane->name);
	t->n_instants += !is_async && !is_span && !has_flow;
}

static void count_line(
	const struct plane *plane, const struct line *line, uint8_t *seen, struct report_totals *t)
{
	bool is_async = line_is_all_async(plane, line);

	if (!line->n_events)
		return;
	if (strcmp(line->name, LINE_COUNTERS) == 0) {
		count_samples(line, seen, t);
		return;
	}
	t->n_threads += !is_async;
	for (size_t i = 0; i < line->n_events; i++)
		count_thread_event(plane, &line->events[i], is_async, t);
}

void space_count_totals(const struct space *space, struct report_totals *totals)
{
	*totals = (struct report_totals){.n_spans = 0};
	for (size_t i = 0; i < space->n_planes; i++) {
		const struct plane *plane = space->planes[i];
		int64_t n_dropped = plane_find_int(plane, "dropped_traces");
		uint8_t *seen = calloc((size_t)plane->event_names.n_texts + 1, 1);

		if (!seen)
			abort();
		totals->n_dropped += n_dropped > 0 ? (uint64_t)n_dropped : 0;
		for (size_t k = 0; k < plane->n_lines; k++)
			count_line(plane, &plane->lines[k], seen, totals);
		free(seen);
	}
}

uint64_t space_count_events(const struct space *space)
{
	uint64_t n = 0;

	for (size_t i = 0; i < space->n_planes; i++)
		for (size_t k = 0; k < space->planes[i]->n_lines; k++)
			n += space->planes[i]->lines[k].n_events;
	return n;
}
