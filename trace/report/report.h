/* SPDX-License-Identifier: Apache-2.0 */
/* What a person wants to read first of a trace, as text for a terminal, as JSON, and as CSV. */
#ifndef TRACE_REPORT_REPORT_H
#define TRACE_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "trace/report/rows.h"

struct digest;

/* Zero is the default for every member. */
struct report_options {
	const char *title; /* path of the trace; NULL: none */
	enum row_key sort;
	size_t n_top; /* names shown in a list; 0: 20 in text, all in JSON and CSV */
	size_t width; /* columns of text; 0: 80 */
	bool has_color; /* escape sequences in text */
	bool by_thread; /* text has the names of each thread, too */
	double slow; /* steps that take longer than this times the median are told; 0: 1.5 */
};

#define REPORT_SLOW 1.5

/* Each sorts the digest's rows, and writes the whole report. 0 or a negative errno. */
int report_write_text(struct digest *g, const struct report_options *options, FILE *out);
/* One JSON object on a line, with stable keys (documented in proftap-report(1)). */
int report_write_json(struct digest *g, const struct report_options *options, FILE *out);
/* A row for each name, as in RFC 4180. */
int report_write_csv(struct digest *g, const struct report_options *options, FILE *out);

/*
 * A line for who compares or reads figures: a recorder's rings reach back differently far, and before some time a part of what
 * happened is missing. Nothing where that is not so.
 */
void report_put_complete(const struct digest *g, const char *indent, FILE *out);

#endif
