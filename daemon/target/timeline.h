/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the target's raw ticks to nanoseconds since the capture's start: pairs of both clocks, taken at
 * start, while draining, and at stop, with straight lines between neighbours. No calibration is needed
 * beforehand; a clock that is being slewed is followed.
 */
#ifndef DAEMON_TIMELINE_H
#define DAEMON_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/target/clock_watch.h"

/* 1 MiB. A capture with more keeps fewer to the minute: 22 minutes at a pair each 20 ms, a day at one in 1.3 s. */
#define TIMELINE_MAX_PAIRS 65536u

struct clock_pair {
	uint64_t ticks;
	int64_t monotonic_ns;
};

struct timeline {
	struct clock_pair *pairs; /* ascending */
	size_t n_pairs;
	size_t n_allocated;
	int64_t gap_ns; /* pairs that are closer are not all kept; 0: they are */
	int uses_ticks; /* 0: ticks are CLOCK_MONOTONIC ns already, of the program */
	/* The segment of the last conversion, from a pair to the next one; from == to: none. */
	uint64_t from_ticks;
	uint64_t to_ticks;
	int64_t from_ns; /* as timeline_convert() returns it */
	double ns_per_tick;
	struct clock_watch watch; /* of all pairs that came */
};

/* Whether this machine's processor counter can serve as a clock. |root| is "" or a test's fake root. */
int timeline_ticks_are_usable(const char *root);

/* Reads both clocks: the best of 16 tries, under a microsecond. */
struct clock_pair clock_pair_read(int uses_ticks);
/*
 * The program's CLOCK_MONOTONIC, which its ticks are where it does not use the counter, is so far ahead of ours
 * (daemon/kernel/time_namespace.h). 0 from the start; once, before there are threads.
 */
void clock_pair_set_ahead(int64_t ahead_ns);

/* What both clocks said at |at_ns|, between two readings of them. */
struct clock_pair clock_pair_interpolate(struct clock_pair a, struct clock_pair b, int64_t at_ns);

void timeline_init(struct timeline *t, int uses_ticks);
void timeline_deinit(struct timeline *t);
/* Appends a pair; 0 or -ENOMEM. Pairs that do not advance are ignored, but watched. */
int timeline_add(struct timeline *t, struct clock_pair pair);
/*
 * With more than |n_max| pairs: forgets every other one of the older half. So the newer ones stay as close as they were
 * taken, and the older ones are ever further apart. The first stays.
 */
void timeline_limit(struct timeline *t, size_t n_max);
/*
 * Makes the time that is |at_ns| behind the first pair, not behind the last, the first one, and forgets what was earlier.
 */
void timeline_begin_at(struct timeline *t, int64_t at_ns);
/* Makes |to| a copy. 0 or -ENOMEM. */
int timeline_copy(const struct timeline *t, struct timeline *to);

/* Where the segment at hand does not reach. */
int64_t timeline_convert_elsewhere(struct timeline *t, uint64_t ticks);

/*
 * ns since the first pair; more ticks are never an earlier time. Extrapolates beyond both ends. Needs two pairs when
 * uses_ticks.
 */
static inline int64_t timeline_convert(struct timeline *t, uint64_t ticks)
{
	if (ticks < t->from_ticks || ticks >= t->to_ticks)
		return timeline_convert_elsewhere(t, ticks);
	/* Not negative: what is cut off is what floor() would. */
	return t->from_ns + (int64_t)((double)(int64_t)(ticks - t->from_ticks) * t->ns_per_tick);
}

#endif
