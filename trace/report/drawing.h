/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spans of a view that are worth drawing on a timeline, as JSON: as many as were asked for, the longest. Memory grows with that number
 * and with names, not with events.
 */
#ifndef TRACE_REPORT_DRAWING_H
#define TRACE_REPORT_DRAWING_H

#include <stddef.h>
#include <stdio.h>

struct diag;
struct view;

#define DRAWING_MAX_SPANS 100000
#define DRAWING_MAX_DEPTH 64

struct drawing_options {
	size_t n_spans; /* 1 to DRAWING_MAX_SPANS */
	size_t depth; /* spans with fewer around them on their thread, and steps; 1 to DRAWING_MAX_DEPTH */
};

/* One JSON object on a line (proftap-report(1), "JSON"). 0, or a negative errno with |d|. */
int drawing_write_json(
	const struct view *view, const struct drawing_options *options, FILE *out, struct diag *d);

#endif
