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
#include "trace/tally.h"

void report_count(const struct space *space, struct report_totals *totals)
{
	struct tally t = {.plane = NULL};

	for (size_t i = 0; i < space->n_planes; i++) {
		const struct plane *plane = space->planes[i];

		tally_begin_plane(&t, plane);
		tally_add_facts(&t, plane);
		for (size_t j = 0; j < plane->n_lines; j++) {
			tally_add_events(&t, &plane->lines[j]);
			tally_end_line(&t, &plane->lines[j]);
		}
	}
	tally_deinit(&t);
	*totals = t.totals;
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
