/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a person wants to read first, as text: per thread and name the count, total, self, mean and
 * maximum; counters; steps; loss and warnings.
 */
#ifndef TRACE_REPORT_H
#define TRACE_REPORT_H

#include <stdint.h>
#include <stdio.h>

struct space;

/* The totals that a one-line summary needs. */
struct report_totals {
	uint64_t n_spans; /* events on lines that are not counters: spans, steps and instants */
	uint64_t n_threads; /* lines with at least one such event */
	uint64_t n_counter_samples;
	uint64_t n_counters; /* series */
	uint64_t n_steps; /* events with the stats _r and step_num */
	uint64_t n_dropped; /* plane stat `dropped_traces`, summed over the planes */
	uint64_t n_unfinished; /* events with the stat `unfinished` */
};

void report_count(const struct space *space, struct report_totals *totals);

/* Writes the whole report. |title| is the file's path. 0 or a negative errno. */
int report_write_text(const struct space *space, const char *title, FILE *out);
/* The same as one JSON object with stable keys (documented in proftap-report(1)). */
int report_write_json(const struct space *space, const char *title, FILE *out);

#endif
