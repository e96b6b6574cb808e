/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the kinds of events and lines by the names of their stats. */
#include "trace/xspace/summary_keys.h"

#include <string.h>

#include "trace/model/space.h"

void summary_keys_init(struct summary_keys *keys, const struct plane *plane)
{
	keys->root = names_find(&plane->stat_names, "_r");
	keys->step_num = names_find(&plane->stat_names, "step_num");
	keys->unfinished = names_find(&plane->stat_names, "unfinished");
	keys->async = names_find(&plane->stat_names, "_a");
	keys->producer = names_find(&plane->stat_names, "_p");
	keys->consumer = names_find(&plane->stat_names, "_c");
}

bool line_is_counters(const struct line *line)
{
	return strcmp(line->name, LINE_COUNTERS) == 0;
}

static bool event_has_stat(
	const struct plane *plane, const struct trace_event *event, uint32_t name)
{
	return event->stats && name != NAMES_NONE && plane_find_stat(plane, event, name);
}

static bool event_stat_is_set(
	const struct plane *plane, const struct trace_event *event, uint32_t name)
{
	const struct trace_stat *stat;
	uint64_t value;

	if (!event->stats || name == NAMES_NONE)
		return false;
	stat = plane_find_stat(plane, event, name);
	return stat && stat_get_count(stat, &value) && value != 0;
}

bool event_is_step(
	const struct plane *plane, const struct summary_keys *keys, const struct trace_event *event)
{
	return event_has_stat(plane, event, keys->root) &&
	       event_has_stat(plane, event, keys->step_num);
}

bool event_is_flow_out(
	const struct plane *plane, const struct summary_keys *keys, const struct trace_event *event)
{
	return event_has_stat(plane, event, keys->producer);
}

bool event_is_flow_in(
	const struct plane *plane, const struct summary_keys *keys, const struct trace_event *event)
{
	return event_has_stat(plane, event, keys->consumer);
}

bool event_is_unfinished(
	const struct plane *plane, const struct summary_keys *keys, const struct trace_event *event)
{
	return event_stat_is_set(plane, event, keys->unfinished);
}

enum event_kind event_get_kind(
	const struct plane *plane, const struct summary_keys *keys, const struct trace_event *event)
{
	if (event->duration_ns || event->is_span || event_is_step(plane, keys, event) ||
		event_is_unfinished(plane, keys, event))
		return EVENT_SPAN;
	return event_is_flow_out(plane, keys, event) || event_is_flow_in(plane, keys, event)
		       ? EVENT_FLOW_MARK
		       : EVENT_INSTANT;
}

void line_count_kinds(const struct plane *plane, const struct summary_keys *keys,
	const struct line *line, uint64_t n_of_kind[EVENT_KINDS])
{
	memset(n_of_kind, 0, EVENT_KINDS * sizeof *n_of_kind);
	for (size_t i = 0; i < line->n_events; i++)
		n_of_kind[event_get_kind(plane, keys, &line->events[i])]++;
}

bool event_is_async(
	const struct plane *plane, const struct summary_keys *keys, const struct trace_event *event)
{
	return event_stat_is_set(plane, event, keys->async);
}

bool line_is_async(
	const struct plane *plane, const struct summary_keys *keys, const struct line *line)
{
	size_t i = 0;

	while (i < line->n_events && event_is_async(plane, keys, &line->events[i]))
		i++;
	return i > 0 && i == line->n_events;
}

bool stat_get_count(const struct trace_stat *stat, uint64_t *count)
{
	*count = stat->value.u64;
	return stat->type == STAT_UINT64 || (stat->type == STAT_INT64 && stat->value.i64 >= 0);
}
