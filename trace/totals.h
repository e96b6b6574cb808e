/* SPDX-License-Identifier: Apache-2.0 */
/* The totals of a trace: how much of what is in it. */
#ifndef TRACE_TOTALS_H
#define TRACE_TOTALS_H

#include <stdint.h>

struct json;
struct space;

/* The totals that a one-line summary needs. */
struct report_totals {
	uint64_t
		n_spans; /* events on threads' lines that have a duration, or an end to come: steps, too */
	uint64_t n_device_spans; /* those of them that are on devices' lines: kernels, copies */
	uint64_t n_instants; /* the others there, but for flow marks */
	uint64_t n_threads; /* lines with at least one event, also streams of devices */
	uint64_t n_asyncs; /* async spans: they lie on lines of their own, which are no threads */
	uint64_t
		n_flow_marks; /* events that a flow leaves or enters; of others' traces spans, too */
	uint64_t n_counter_samples;
	uint64_t n_counters; /* series */
	uint64_t n_steps; /* events with the stats _r and step_num */
	uint64_t n_dropped; /* plane stat `dropped_traces`, summed over the planes */
	uint64_t n_unfinished; /* events with the stat `unfinished` */
};

void report_count(const struct space *space, struct report_totals *totals);

/* The totals as members of the object that |j| is in. */
void report_write_json_totals(struct json *j, const struct report_totals *totals);

#endif
