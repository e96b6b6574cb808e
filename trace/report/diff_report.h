/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the differences of two traces, as text for a terminal and as JSON. */
#ifndef TRACE_REPORT_DIFF_REPORT_H
#define TRACE_REPORT_DIFF_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct diff;
struct diff_judgement;
struct diff_judgements;
struct digest;

/* The default of each member is zero. */
struct diff_options {
	const char *path_a;
	const char *path_b;
	size_t n_top; /* lines of each list; 0: 20 in text (40 in the first list), all in JSON */
	size_t width; /* columns of text; 0: 80 */
	bool has_color;
	const struct diff_judgements *judgements; /* written in JSON; NULL: no limit was set */
};

/* 0 or a negative errno. */
int diff_write_text(const struct diff *diff, const struct digest *a, const struct digest *b,
	const struct diff_options *options, FILE *out);
/* Writes one JSON object on a line, with stable keys (documented in proftap-diff(1)). */
int diff_write_json(const struct diff *diff, const struct digest *a, const struct digest *b,
	const struct diff_options *options, FILE *out);
/*
 * Writes 'p99 of "decode": 1.20 ms before, 3.40 ms after: +183.3 %; the limit is +10 %', or that it
 * is not compared. Unprintable characters of the name are replaced, and there is no line break. The
 * outcome must be neither DIFF_MISSING nor DIFF_ABSENT.
 */
void diff_write_judgement(const struct diff *diff, const struct diff_judgement *j, FILE *out);

#endif
