/* SPDX-License-Identifier: Apache-2.0 */
/* The totals of a trace, counted line by line; a line may come in pieces. */
#ifndef TRACE_TALLY_H
#define TRACE_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/xspace/summary_keys.h" /* struct summary_keys */
#include "trace/xspace/totals.h" /* struct report_totals */

struct line;
struct plane;

struct tally {
	struct report_totals totals;

	/* Of the plane, and of the line in it: */
	const struct plane *plane;
	struct summary_keys keys;
	uint8_t *seen; /* by name: a counter that has been counted */
	size_t n_seen;
	uint64_t n_events;
	uint64_t n_of_kind[EVENT_KINDS];
	bool is_async; /* all so far are async spans */
};

/* Begins a plane whose names of stats are known, all zero bytes before the first. It is borrowed until the next one. */
void tally_begin_plane(struct tally *t, const struct plane *plane);
/* The events of a line, or some of them. */
void tally_add_events(struct tally *t, const struct line *line);
/* That was all of it. */
void tally_end_line(struct tally *t, const struct line *line);
/* What the plane says of itself. */
void tally_add_facts(struct tally *t, const struct plane *plane);
void tally_deinit(struct tally *t);

#endif
