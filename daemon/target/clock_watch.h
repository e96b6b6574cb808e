/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches whether the processor's counter keeps the pace of CLOCK_MONOTONIC, by pairs of their
 * readings. It does not when the machine was suspended, or moved to another one; then times are
 * wrong, and the trace must tell it.
 */
#ifndef DAEMON_CLOCK_WATCH_H
#define DAEMON_CLOCK_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clock_pair;

/* The rate is estimated over this time, and each later window is compared with it. */
#define CLOCK_WATCH_WINDOW_NS INT64_C(100000000)
/* The tolerance beside the error of two readings: twice what NTP slews by. */
#define CLOCK_WATCH_MAX_PPM 1000
#define CLOCK_WATCH_READING_NS 20000
/*
 * A counter that has not advanced for this long was set back. Smaller steps show as a wrong pace.
 */
#define CLOCK_WATCH_STILL_NS INT64_C(1000000)

/* Zero before the first pair. Times are ns since that pair; 0: never. */
struct clock_watch {
	int64_t first_ns; /* CLOCK_MONOTONIC */
	uint64_t highest_ticks;
	int64_t highest_ns;
	uint64_t window_ticks; /* the beginning of the window */
	int64_t window_ns;
	double ns_per_tick; /* the first estimate; 0: none yet */
	int64_t off_pace_ns; /* when it was seen first and last */
	int64_t last_off_pace_ns;
	int64_t set_back_ns;
	int64_t last_set_back_ns;
	bool is_begun;
};

void clock_watch_look(struct clock_watch *w, const struct clock_pair *pair);

/*
 * Writes a sentence on faults seen at |from_ns| or later, or "". A set-back takes precedence over a
 * wrong pace.
 */
void clock_watch_describe(const struct clock_watch *w, int64_t from_ns, char *text, size_t size);

#endif
