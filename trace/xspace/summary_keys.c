/* SPDX-License-Identifier: Apache-2.0 */
/* Tells steps and counters by the names of stats and lines. */
#include "trace/xspace/summary_keys.h"

#include <string.h>

#include "trace/model/space.h"

void summary_keys_init(struct summary_keys *keys, const struct plane *plane)
{
	keys->root = names_find(&plane->stat_names, "_r");
	keys->step_num = names_find(&plane->stat_names, "step_num");
	keys->unfinished = names_find(&plane->stat_names, "unfinished");
}

bool line_is_counters(const struct line *line)
{
	return strcmp(line->name, LINE_COUNTERS) == 0;
}

static const struct trace_stat *find_stat(
	const struct plane *plane, const struct trace_event *event, uint32_t name)
{
	return event->stats && name != NAMES_NONE ? plane_find_stat(plane, event, name) : NULL;
}

bool event_is_step(
	const struct plane *plane, const struct summary_keys *keys, const struct trace_event *event)
{
	return find_stat(plane, event, keys->root) && find_stat(plane, event, keys->step_num);
}

bool event_is_unfinished(
	const struct plane *plane, const struct summary_keys *keys, const struct trace_event *event)
{
	const struct trace_stat *stat = find_stat(plane, event, keys->unfinished);

	return stat && ((stat->type == STAT_UINT64 && stat->value.u64) ||
			       (stat->type == STAT_INT64 && stat->value.i64 > 0));
}
