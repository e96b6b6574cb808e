/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a view is worth drawing on a timeline, as JSON: spans, as many as were asked for, the longest; arrows of flows; and samples of counters.
 * Memory grows with that number and with names and counters, not with events.
 */
#ifndef TRACE_REPORT_DRAWING_H
#define TRACE_REPORT_DRAWING_H

#include <stddef.h>
#include <stdio.h>

struct diag;
struct view;

#define DRAWING_MAX_SPANS 100000
/* More than any thread of ours has open at a time (RECORD_MAX_DEPTH). */
#define DRAWING_MAX_DEPTH 1024
/* Of more flows some are left out; a counter with more samples has every second one drawn, or every fourth, and so on. */
#define DRAWING_MAX_FLOW_ENDS 4096
#define DRAWING_MAX_POINTS 1024
#define DRAWING_MAX_ALL_POINTS 200000

struct drawing_options {
	size_t n_spans; /* 1 to DRAWING_MAX_SPANS */
	size_t depth; /* spans with fewer around them on their thread, and steps; 1 to DRAWING_MAX_DEPTH */
};

/* One JSON object on a line (proftap-report(1), "JSON"). 0, or a negative errno with |d|. */
int drawing_write_json(
	const struct view *view, const struct drawing_options *options, FILE *out, struct diag *d);

#endif
