/* SPDX-License-Identifier: Apache-2.0 */
/* The totals of a trace: how much of what is in it. */
#ifndef TRACE_TOTALS_H
#define TRACE_TOTALS_H

#include <stdbool.h>
#include <stddef.h>
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

/* What a file says of how long its recording was. */
struct report_length {
	int64_t start_unix_ns; /* 0: it does not say, as below */
	int64_t stop_unix_ns;
	int64_t asked_ns; /* by whoever asked; 0: as the options say */
	const uint8_t *options; /* the encoded ProfileOptions; NULL: none */
	size_t n_options;
	int64_t last_ns; /* since the start: when its last event ended */
	bool is_ours; /* proftap recorded it */
};

/*
 * The length in ns; -1: it is not known. The stop of JAX's and TensorFlow's servers comes after they have collected the events, which may
 * take longer than the recording. Theirs are as long as was asked, or until the last event if that was later, or if they were stopped
 * before.
 */
int64_t report_find_length(const struct report_length *length);

void report_count(const struct space *space, struct report_totals *totals);

/* The totals as members of the object that |j| is in. */
void report_write_json_totals(struct json *j, const struct report_totals *totals);

#endif
