/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the target's raw ticks to nanoseconds since the capture's start: by pairs of readings of
 * both clocks, taken at the start, while draining, and at the stop, with straight lines between
 * neighbours. This needs no calibration, and follows a clock that is being slewed.
 */
#ifndef DAEMON_TIMELINE_H
#define DAEMON_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Watches whether the processor's counter keeps the pace of CLOCK_MONOTONIC, by pairs of their
 * readings. It does not when the machine was suspended, or moved to another one; then times are
 * wrong, and the trace must say so.
 */

/* The rate is estimated over this time, and each later window is compared with it. */
#define CLOCK_WATCH_WINDOW_NS INT64_C(100000000)
/* The tolerance in addition to the error of two readings: twice NTP's largest slew rate. */
#define CLOCK_WATCH_MAX_PPM 1000
#define CLOCK_WATCH_READING_NS 20000
/*
 * A counter that has not advanced for this long was set back. Smaller steps show as a wrong pace.
 */
#define CLOCK_WATCH_STILL_NS INT64_C(1000000)

/* Zero before the first pair. Faults: ns since that pair, 0: never; else CLOCK_MONOTONIC. */
struct clock_watch {
	int64_t first_ns; /* CLOCK_MONOTONIC */
	uint64_t highest_ticks;
	int64_t highest_ns;
	uint64_t window_ticks; /* the beginning of the window */
	int64_t window_ns;
	double ns_per_tick; /* the first estimate; 0: none yet */
	int64_t off_pace_ns; /* when a wrong pace was first seen; |last_off_pace_ns|: last */
	int64_t last_off_pace_ns;
	int64_t set_back_ns;
	int64_t last_set_back_ns;
	bool is_begun;
};

struct clock_pair;

/*
 * Writes a sentence on faults seen at |from_ns| or later, or "". A set-back takes precedence over a
 * wrong pace.
 */
void clock_watch_describe(const struct clock_watch *w, int64_t from_ns, char *text, size_t size);

/*
 * 1 MiB. A longer capture keeps fewer pairs per minute: 22 minutes at one pair per 20 ms, a day at
 * one per 1.3 s.
 */
#define TIMELINE_MAX_PAIRS 65536u

struct clock_pair {
	uint64_t ticks;
	int64_t monotonic_ns;
};

struct timeline {
	struct clock_pair *pairs; /* ascending */
	size_t n_pairs;
	size_t n_allocated;
	int64_t gap_ns; /* pairs that are closer may be dropped; 0: all are kept */
	int uses_ticks; /* 0: ticks are the program's CLOCK_MONOTONIC ns already */
	/* The segment of the last conversion, from one pair to the next; from == to: none. */
	uint64_t from_ticks;
	uint64_t to_ticks;
	int64_t from_ns; /* since the first pair, as timeline_convert() returns */
	double ns_per_tick;
	struct clock_watch watch; /* has seen all pairs, also those not kept */
};

/*
 * Returns true if this machine's processor counter is usable as a clock. |root| is "" or a test's
 * fake root.
 */
bool timeline_ticks_are_usable(const char *root);

/* Reads both clocks, mostly less than a microsecond apart: the closest pair of 16 tries. */
struct clock_pair clock_pair_read(int uses_ticks);
/*
 * Sets how far the program's CLOCK_MONOTONIC is ahead of ours (daemon/kernel/time_namespace.h), for
 * ticks that are not the counter. It is 0 at the start; call this once, while there is one thread.
 */
void clock_pair_set_ahead(int64_t ahead_ns);

/* Returns both clocks' values at |at_ns|, between two pairs. */
struct clock_pair clock_pair_interpolate(struct clock_pair a, struct clock_pair b, int64_t at_ns);

void timeline_init(struct timeline *t, int uses_ticks);
void timeline_deinit(struct timeline *t);
/* Appends a pair; 0 or -ENOMEM. Pairs that do not advance are ignored, but watched. */
int timeline_add(struct timeline *t, struct clock_pair pair);
/*
 * If there are more than |n_max| pairs, drops every other pair of the older half. So newer pairs
 * stay as close as they were taken, and older ones move further apart each time. The first pair
 * stays.
 */
void timeline_limit(struct timeline *t, size_t n_max);
/*
 * Makes the time that is |at_ns| after the first pair the new first pair, and drops earlier ones.
 * It must be before the last pair.
 */
void timeline_begin_at(struct timeline *t, int64_t at_ns);
/* Makes |to| a copy. 0 or -ENOMEM. */
int timeline_copy(const struct timeline *t, struct timeline *to);

/* Does what timeline_convert() does for |ticks| outside of the current segment. */
int64_t timeline_convert_elsewhere(struct timeline *t, uint64_t ticks);

/*
 * Returns ns since the first pair; the result never decreases with more ticks. Extrapolates at both
 * ends. Needs two pairs if uses_ticks.
 */
static inline int64_t timeline_convert(struct timeline *t, uint64_t ticks)
{
	if (ticks < t->from_ticks || ticks >= t->to_ticks)
		return timeline_convert_elsewhere(t, ticks);
	/* The value is not negative, so the conversion rounds as floor() would. */
	return t->from_ns + (int64_t)((double)(int64_t)(ticks - t->from_ticks) * t->ns_per_tick);
}

#endif
