/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a person wants to read first, as text: per thread and name the count, total, self, mean,
 * median, 99th percentile and maximum; async spans; flows; counters; steps; loss and warnings.
 */
#ifndef TRACE_REPORT_H
#define TRACE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "trace/summary_key.h"

struct json;
struct space;

/* The totals that a one-line summary needs. */
struct report_totals {
	uint64_t
		n_spans; /* events on threads' lines that have a duration, or an end to come: steps, too */
	uint64_t n_instants; /* the others there, but for flow marks */
	uint64_t n_threads; /* lines with at least one event */
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

/* What of it; zero is the default for every member. */
struct report_options {
	enum summary_key sort;
	size_t n_top; /* names shown per thread; 0: 40 in text, all in JSON */
	/* Of spans, steps and counters; NULL: all. The totals are of all in any case. */
	bool (*keep_name)(const char *name, void *context);
	void *context;
};

/* Writes the whole report. |title| is the file's path; |options| may be NULL. 0 or a negative errno. */
int report_write_text(const struct space *space, const char *title,
	const struct report_options *options, FILE *out);
/* The same as one JSON object with stable keys (documented in proftap-report(1)). */
int report_write_json(const struct space *space, const char *title,
	const struct report_options *options, FILE *out);
/* The totals as members of the object that |j| is in. */
void report_write_json_totals(struct json *j, const struct report_totals *totals);

#endif
