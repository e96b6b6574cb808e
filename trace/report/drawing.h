/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the items of a view for a timeline, as JSON: the longest spans, up to a requested number;
 * arrows of flows; and samples of counters. Memory grows with that number and with names and
 * counters, not with events.
 */
#ifndef TRACE_REPORT_DRAWING_H
#define TRACE_REPORT_DRAWING_H

#include <stddef.h>
#include <stdio.h>

struct diag;
struct view;

#define DRAWING_MAX_SPANS 100000
/* More spans than a thread that proftap records can have open at a time (RECORD_MAX_DEPTH). */
#define DRAWING_MAX_DEPTH 1024
/*
 * Limits: if there are more flows, some are left out; if a counter has more samples, every second
 * one is drawn, or every fourth, and so on.
 */
#define DRAWING_MAX_FLOW_ENDS 4096
#define DRAWING_MAX_POINTS 1024
#define DRAWING_MAX_ALL_POINTS 200000

struct drawing_options {
	size_t n_spans; /* 1 to DRAWING_MAX_SPANS */
	/*
	 * A span with this many or more spans around it on its thread is not drawn, unless it is a
	 * step; 1 to DRAWING_MAX_DEPTH
	 */
	size_t depth;
};

/* Writes one JSON object on a line (proftap-report(1), "JSON"). 0, or a negative errno with |d|. */
int drawing_write_json(
	const struct view *view, const struct drawing_options *options, FILE *out, struct diag *d);

#endif
