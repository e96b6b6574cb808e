/* SPDX-License-Identifier: Apache-2.0 */
/* Totals; see totals.h. */
#include "trace/xspace/totals.h"

#include "base/clock.h"
#include "trace/json.h"
#include "trace/model/space.h"
#include "trace/xspace/pbwire.h"
#include "trace/xspace/tally.h"

#define OPTIONS_DURATION_MS 9 /* ProfileOptions.duration_ms */

/* -1: the options do not say. */
static int64_t length_find_asked(const struct report_length *l)
{
	struct pb_reader reader = pb_reader(l->options, l->options ? l->n_options : 0);
	struct pb_field field;
	int64_t asked_ns = l->asked_ns ? l->asked_ns : -1;

	while (!l->asked_ns && pb_next(&reader, &field) > 0)
		if (field.tag == PB_TAG(OPTIONS_DURATION_MS, PB_VARINT))
			asked_ns = field.value < INT64_MAX / NS_PER_MS
					   ? (int64_t)field.value * NS_PER_MS
					   : INT64_MAX;
	return asked_ns;
}

int64_t report_find_length(const struct report_length *l)
{
	int64_t longest_ns = l->stop_unix_ns - l->start_unix_ns;
	int64_t asked_ns = length_find_asked(l);
	int64_t last_ns = l->last_ns;

	if (l->start_unix_ns <= 0 || l->stop_unix_ns < l->start_unix_ns)
		return -1;
	if (l->is_ours)
		return longest_ns;
	if (asked_ns <= longest_ns && asked_ns > last_ns)
		last_ns = asked_ns;
	return last_ns > 0 && last_ns < longest_ns ? last_ns : longest_ns;
}

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
