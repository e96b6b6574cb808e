/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the totals of a trace, and finds out how long its recording was. */
#include "trace/xspace/totals.h"

#include "base/clock.h"
#include "trace/json.h"
#include "trace/xspace/pbwire.h"

#define OPTIONS_DURATION_MS 9 /* ProfileOptions.duration_ms */

/* --- the length of a recording ------------------------------------------------------------- */

int64_t report_read_asked(const uint8_t *options, size_t n_options)
{
	struct pb_reader reader = pb_reader(options, n_options);
	struct pb_field field;
	int64_t asked_ns = 0;

	while (pb_next(&reader, &field) > 0)
		if (field.tag == PB_TAG(OPTIONS_DURATION_MS, PB_VARINT))
			asked_ns = field.value < INT64_MAX / NS_PER_MS
					   ? (int64_t)field.value * NS_PER_MS
					   : INT64_MAX;
	return asked_ns;
}

int64_t report_find_length(const struct report_length *l)
{
	int64_t longest_ns = l->stop_unix_ns - l->start_unix_ns;
	int64_t last_ns = l->last_ns;

	if (l->start_unix_ns <= 0 || l->stop_unix_ns < l->start_unix_ns)
		return -1;
	if (l->is_ours)
		return longest_ns;
	if (l->asked_ns <= longest_ns && l->asked_ns > last_ns)
		last_ns = l->asked_ns;
	return last_ns > 0 && last_ns < longest_ns ? last_ns : longest_ns;
}

/* --- totals -------------------------------------------------------------------------------- */

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
	json_uint(j, "cpu_samples", t->n_cpu_samples);
	json_uint(j, "steps", t->n_steps);
	json_uint(j, "dropped", t->n_dropped);
	json_uint(j, "unfinished", t->n_unfinished);
}
