/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the processor's counter keeps the pace of CLOCK_MONOTONIC, pair by pair of their readings. It does not when the
 * machine was suspended, or moved to another one; then times are wrong, and the trace is to say so.
 */
#ifndef DAEMON_CLOCK_WATCH_H
#define DAEMON_CLOCK_WATCH_H

#include <stddef.h>
#include <stdint.h>

struct clock_pair;

/* The rate is estimated over the first of these, and each one after it is compared with that. */
#define CLOCK_WATCH_WINDOW_NS INT64_C(100000000)
/* Beside what two readings may be apart: twice what NTP slews by. */
#define CLOCK_WATCH_MAX_PPM 1000
#define CLOCK_WATCH_READING_NS 20000
/* A counter that has not advanced in so long was set back. Less is noticed as a wrong pace. */
#define CLOCK_WATCH_STILL_NS INT64_C(1000000)

/* Zero before the first pair. Times are ns since that one; 0: never. */
struct clock_watch {
	int64_t first_ns; /* CLOCK_MONOTONIC */
	uint64_t highest_ticks;
	int64_t highest_ns;
	uint64_t window_ticks; /* where the window begins */
	int64_t window_ns;
	double ns_per_tick; /* the first estimate; 0: there is none yet */
	int64_t off_pace_ns; /* first seen, and last */
	int64_t last_off_pace_ns;
	int64_t set_back_ns;
	int64_t last_set_back_ns;
	int is_begun;
};

void clock_watch_look(struct clock_watch *w, const struct clock_pair *pair);

/* A sentence on what was seen at |from_ns| or later, or "". A set-back goes before a wrong pace. */
void clock_watch_describe(const struct clock_watch *w, int64_t from_ns, char *text, size_t size);

#endif
