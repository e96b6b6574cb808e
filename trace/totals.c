/* SPDX-License-Identifier: Apache-2.0 */
/* Totals; see totals.h. */
#include "trace/totals.h"

#include "trace/json.h"
#include "trace/space.h"
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

void report_write_json_totals(struct json *j, const struct report_totals *t)
{
	json_uint(j, "spans", t->n_spans);
	json_uint(j, "device_spans", t->n_device_spans);
	json_uint(j, "threads", t->n_threads);
	json_uint(j, "async_spans", t->n_asyncs);
	json_uint(j, "instants", t->n_instants);
	json_uint(j, "flow_marks", t->n_flow_marks);
	json_uint(j, "counters", t->n_counters);
	json_uint(j, "counter_samples", t->n_counter_samples);
	json_uint(j, "steps", t->n_steps);
	json_uint(j, "dropped", t->n_dropped);
	json_uint(j, "unfinished", t->n_unfinished);
}
