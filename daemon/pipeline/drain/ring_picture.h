/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A picture is a copy of a ring at one instant. It is taken while the ring's thread goes on
 * running, or after that thread has ended. The flight recorder takes it and leaves the ring as it
 * is. See docs/internals/ring.md.
 */
#ifndef DAEMON_RING_PICTURE_H
#define DAEMON_RING_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/target/timeline.h"

struct drain_budget;
struct target;
struct thread_log;

/* Outcomes, besides 0 and -ENOMEM. */
enum {
	RING_PICTURE_NONE = 1, /* the ring belongs to no thread of this recording */
	RING_PICTURE_BROKEN = 2, /* its positions make no sense: the target writes at random */
};

/*
 * Returns the instant T for pictures of any number of rings, which are taken after T. The pictures
 * hold all records that began until T and were not overwritten, all open spans that began until T,
 * and some later ones, which the caller leaves out. No span is in a picture twice, and no record is
 * in a picture without the spans that enclose it.
 */
struct clock_pair ring_picture_now(bool uses_ticks);

/*
 * Copies ring |i| into |log|, which is zero but for |from| and stays the caller's: the thread,
 * slots, open spans, losses since the thread joined the recording |word|, and the number of
 * overwritten entries. |log->ordinal| is the number of entries that the thread wrote. It includes
 * the overwritten ones, those before |from|, and |log->n_left_out|, the oldest ones, for which
 * |budget| had no room.
 */
int ring_picture_take(struct target *t, uint32_t i, uint32_t word, struct drain_budget *budget,
	struct thread_log *log);

/*
 * The number of entries that the thread of ring |i| wrote in the recording |word|,
 * including overwritten ones; 0 if the thread is not part of the recording, or the
 * positions of the ring make no sense.
 */
uint64_t ring_picture_count(struct target *t, uint32_t i, uint32_t word);

#endif
