/* SPDX-License-Identifier: Apache-2.0 */
/* The report on a trace, as text for a terminal, as JSON, and as CSV. */
#ifndef TRACE_REPORT_REPORT_H
#define TRACE_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "trace/report/rows.h"

struct digest;

/* The default of each member is zero. */
struct report_options {
	const char *title; /* path of the trace; NULL: none */
	enum row_key sort;
	size_t n_top; /* names shown in a list; 0: 20 in text, all in JSON and CSV */
	size_t width; /* columns of text; 0: 80 */
	bool has_color; /* text has escape sequences */
	bool by_thread; /* text also has the names of each thread */
	double slow; /* factor of the median for the limit of slow units (slow.h); 0: 1.5 */
};

#define REPORT_SLOW 1.5

/* Each of these sorts the digest's rows, and writes the whole report. 0 or a negative errno. */
int report_write_text(struct digest *g, const struct report_options *options, FILE *out);
/* Writes one JSON object on a line, with stable keys (documented in proftap-report(1)). */
int report_write_json(struct digest *g, const struct report_options *options, FILE *out);
/* Writes CSV (RFC 4180) with a row for each name. */
int report_write_csv(struct digest *g, const struct report_options *options, FILE *out);

/*
 * Writes a line if a flight recorder's trace is complete only since some time: its rings reach back
 * by different times, and before that time events are missing.
 */
void report_put_complete(const struct digest *g, const char *indent, FILE *out);

#endif
