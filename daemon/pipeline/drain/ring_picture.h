/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread's ring holds at one instant, while the thread runs on, or after its death: the flight recorder's look at
 * it, which takes nothing away. See docs/internals/ring.md.
 */
#ifndef DAEMON_RING_PICTURE_H
#define DAEMON_RING_PICTURE_H

#include <stdint.h>

#include "daemon/target/timeline.h"

struct drain_budget;
struct target;
struct thread_log;

/* Outcomes, besides 0 and -ENOMEM. */
enum {
	RING_PICTURE_NONE = 1, /* no thread that has entered this recording has the ring */
	RING_PICTURE_BROKEN = 2, /* its positions make no sense: the target writes at random */
};

/*
 * The instant T for pictures of any number of rings that are taken after it. They hold all records that began until then
 * and were not overwritten, all spans that are open and began until then, and some of what came after it, which is to be
 * left out; nothing is in both, and no record without those that it lies in.
 */
struct clock_pair ring_picture_now(int uses_ticks);

/*
 * Ring |i| into |log|, which is zeroed but for |from| and is the caller's in any case: its thread, slots, open spans, losses (since the
 * thread entered the recording |word|), and how many entries were overwritten. |log->ordinal| is how many it wrote in all:
 * these, those that are kept, those that |from| leaves out, and |log->n_left_out|, which |budget| had no room for: the oldest of
 * what is there.
 */
int ring_picture_take(struct target *t, uint32_t i, uint32_t word, struct drain_budget *budget,
	struct thread_log *log);

/*
 * How many entries the thread of ring |i| wrote in the recording |word|, whether they are still there or not; 0 if it is not
 * part of it, or its positions make no sense.
 */
uint64_t ring_picture_count(struct target *t, uint32_t i, uint32_t word);

#endif
