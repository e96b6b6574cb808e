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

#include "daemon/target/clock_watch.h"

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
	int64_t gap_ns; /* not all pairs that are closer are kept; 0: all are */
	int uses_ticks; /* 0: ticks are the program's CLOCK_MONOTONIC ns already */
	/* The segment of the last conversion, from one pair to the next; from == to: none. */
	uint64_t from_ticks;
	uint64_t to_ticks;
	int64_t from_ns; /* in the units of timeline_convert() */
	double ns_per_tick;
	struct clock_watch watch; /* has seen all pairs, also those not kept */
};

/*
 * Whether this machine's processor counter can serve as a clock. |root| is "" or a test's fake
 * root.
 */
bool timeline_ticks_are_usable(const char *root);

/* Reads both clocks: the best of 16 tries, less than a microsecond apart. */
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
 * stay as close as they were taken, and older ones are ever further apart. The first pair stays.
 */
void timeline_limit(struct timeline *t, size_t n_max);
/*
 * Makes the time |at_ns| after the first pair, which must be before the last, the new first pair,
 * and drops earlier ones.
 */
void timeline_begin_at(struct timeline *t, int64_t at_ns);
/* Makes |to| a copy. 0 or -ENOMEM. */
int timeline_copy(const struct timeline *t, struct timeline *to);

/* Converts outside of the current segment. */
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
