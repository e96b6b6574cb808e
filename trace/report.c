/* SPDX-License-Identifier: Apache-2.0 */
/* What both forms of the report share: totals and the facts of the recording; see report.h. */
#include "trace/report.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "trace/report_facts.h"
#include "trace/space.h"
#include "trace/summary.h"

/* |seen| is NULL when memory ran out: then a line counts as one series. */
static void count_counter_line(const struct line *line, uint8_t *seen, struct report_totals *totals)
{
	totals->n_counter_samples += line->n_events;
	if (!seen)
		totals->n_counters++;
	for (size_t i = 0; seen && i < line->n_events; i++) {
		uint8_t *mark = &seen[line->events[i].name];

		totals->n_counters += !*mark;
		*mark = 1;
	}
}

static void count_event(const struct plane *plane, const struct trace_event *event,
	const struct summary_keys *keys, struct report_totals *totals)
{
	totals->n_steps += event_is_step(plane, keys, event);
	totals->n_unfinished += event_is_unfinished(plane, keys, event);
	totals->n_flow_marks +=
		event_is_flow_out(plane, keys, event) || event_is_flow_in(plane, keys, event);
}

static void count_line(const struct plane *plane, const struct line *line,
	const struct summary_keys *keys, struct report_totals *totals)
{
	if (line_is_async(plane, keys, line)) {
		totals->n_asyncs += line->n_events;
	} else {
		totals->n_threads++;
		totals->n_spans += line->n_events;
	}
	for (size_t i = 0; i < line->n_events; i++)
		count_event(plane, &line->events[i], keys, totals);
}

static void count_plane(const struct plane *plane, struct report_totals *totals)
{
	_cleanup_free_ uint8_t *seen = calloc((size_t)plane->event_names.n_texts + 1, 1);
	const struct trace_stat *dropped = plane_find_own_stat(plane, "dropped_traces");
	struct summary_keys keys;
	uint64_t n_dropped;

	summary_keys_init(&keys, plane);
	if (dropped && stat_get_count(dropped, &n_dropped))
		totals->n_dropped += n_dropped;
	for (size_t i = 0; i < plane->n_lines; i++) {
		const struct line *line = &plane->lines[i];

		if (!line->n_events)
			continue;
		if (line_is_counters(line))
			count_counter_line(line, seen, totals);
		else
			count_line(plane, line, &keys, totals);
	}
}

void report_count(const struct space *space, struct report_totals *totals)
{
	*totals = (struct report_totals){0};
	for (size_t i = 0; i < space->n_planes; i++)
		count_plane(space->planes[i], totals);
}

bool report_get_session(const struct space *space, struct report_session *session)
{
	const struct plane *plane = space_find_plane(space, PLANE_ENVIRONMENT);
	const struct trace_stat *start;
	const struct trace_stat *stop;

	*session = (struct report_session){0, 0};
	if (!plane)
		return false;
	start = plane_find_own_stat(plane, "profile_start_time");
	stop = plane_find_own_stat(plane, "profile_stop_time");
	if (!start || !stop || !stat_get_count(start, &session->start_unix_ns) ||
		!stat_get_count(stop, &session->stop_unix_ns))
		return false;
	return session->stop_unix_ns >= session->start_unix_ns;
}

bool report_get_loss(const struct plane *plane, size_t i, const char **name, uint64_t *count)
{
	const struct trace_stat *stat = &plane->plane_stats[i];

	*name = names_get(&plane->stat_names, stat->name);
	if (strcmp(*name, "dropped_traces") != 0 && strncmp(*name, "ptap_lost_", 10) != 0)
		return false;
	return stat_get_count(stat, count);
}

const char *report_get_process(const struct plane *plane, int64_t *pid)
{
	const struct trace_stat *name = plane_find_own_stat(plane, "ptap_process_name");
	const struct trace_stat *id = plane_find_own_stat(plane, "process_id");
	uint64_t count;

	*pid = id && stat_get_count(id, &count) && count <= INT64_MAX ? (int64_t)count : -1;
	if (!name || name->type != STAT_STRING)
		return NULL;
	return names_get(&plane->stat_names, name->value.string);
}

int report_summarise(
	const struct plane *plane, const struct report_options *options, struct summary *summary)
{
	int rc = summary_init(summary, plane);

	if (rc)
		return rc;
	if (options->keep_name)
		summary_filter(summary, options->keep_name, options->context);
	summary_sort(summary, options->sort);
	return 0;
}

size_t report_count_shown(size_t n, size_t n_default, const struct report_options *options)
{
	size_t n_most = options->n_top ? options->n_top : n_default;

	return n_most && n > n_most ? n_most : n;
}
