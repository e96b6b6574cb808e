/* SPDX-License-Identifier: Apache-2.0 */
/* The differences of two traces, as text for a terminal and as JSON. */
#ifndef TRACE_REPORT_DIFF_REPORT_H
#define TRACE_REPORT_DIFF_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct diff;
struct digest;

/* Zero is the default, where nothing else is said. */
struct diff_options {
	const char *path_a;
	const char *path_b;
	size_t n_top; /* rows of each list; 0: 20 in text, all in JSON */
	size_t width; /* columns of text; 0: 80 */
	bool has_color;
	double limit; /* p50 that rose by more is told as too much; negative: nothing is */
};

/* 0 or a negative errno. */
int diff_write_text(const struct diff *diff, const struct digest *a, const struct digest *b,
	const struct diff_options *options, FILE *out);
/* One JSON object on a line, with stable keys (documented in proftap-diff(1)). */
int diff_write_json(const struct diff *diff, const struct digest *a, const struct digest *b,
	const struct diff_options *options, FILE *out);

#endif
