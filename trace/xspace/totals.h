/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The totals of a trace: how many spans, samples and other events it has. Outlines and digests
 * count them.
 */
#ifndef TRACE_TOTALS_H
#define TRACE_TOTALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json;

/* The totals that a one-line summary needs. */
struct report_totals {
	/* Events on lines of threads and devices that have a duration or no end yet, and steps */
	uint64_t n_spans;
	uint64_t n_device_spans; /* those of |n_spans| on lines of devices: kernels, copies */
	uint64_t n_instants; /* events on threads' lines that are neither spans nor flow marks */
	uint64_t n_threads; /* lines with at least one event, also streams of devices */
	uint64_t n_asyncs; /* async spans, which lie on lines of their own that are no threads */
	/* Events that a flow leaves or enters; in foreign traces spans, too */
	uint64_t n_flow_marks;
	uint64_t n_counter_samples;
	uint64_t n_counters; /* series */
	uint64_t n_cpu_samples;
	uint64_t n_steps; /* events with the stats _r and step_num */
	uint64_t n_dropped; /* plane stat `dropped_traces`, summed over the planes */
	uint64_t n_unfinished; /* events with the stat `unfinished` */
};

/* The facts in a file that tell how long its recording was. */
struct report_length {
	int64_t start_unix_ns; /* 0: unknown */
	int64_t stop_unix_ns; /* 0: unknown */
	int64_t asked_ns; /* the requested length; 0: unknown */
	int64_t last_ns; /* end of the last event, since the start */
	bool is_ours; /* proftap recorded it */
};

/*
 * Returns the length in ns, or -1 if it is not known. The stop time that the servers of JAX and
 * TensorFlow write comes after they have collected the events, which may take longer than the
 * recording. So the length of their recordings is the requested one; it is the end of the last
 * event if that is later, or if the recording was stopped early.
 */
int64_t report_find_length(const struct report_length *length);

/* Returns the length in ns that encoded ProfileOptions request; 0 if they contain none. */
int64_t report_read_asked(const uint8_t *options, size_t n_options);

/* Writes the totals as members of the JSON object that |j| is in. */
void report_write_json_totals(struct json *j, const struct report_totals *totals);

#endif
