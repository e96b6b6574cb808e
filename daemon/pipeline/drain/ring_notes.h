/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far each ring of a process had come at which time, noted every few hours while a flight recorder runs: a ring may hold
 * records that are older than the bits of their times tell, days of them where a thread is idle. See era.h, and
 * docs/internals/ring.md.
 *
 * Threads: the worker's.
 */
#ifndef DAEMON_RING_NOTES_H
#define DAEMON_RING_NOTES_H

#include <stdint.h>

#include "daemon/target/era.h"

struct drain_budget;
struct target;
struct thread_log;

/* Of one ring, between which its thread wrote something; 35 days at 3 GHz. What is older than the first cannot be dated. */
#define RING_NOTES_MAX 128u

/*
 * From here on rings of |t| are noted. What they hold now was written behind |since_ticks|; 0: it is not the recorder's. 0 or
 * -ENOMEM.
 */
int ring_notes_open(struct target *t, int uses_ticks, uint64_t since_ticks);
/* Nothing when it is not open. */
void ring_notes_close(struct target *t);

/* Notes where all rings are that threads have, if it is time to. Otherwise, and of the others, no memory is looked at. */
void ring_notes_look(struct target *t, uint64_t now_ticks);

/* By the clock of |t|'s recording. */
uint64_t ring_notes_now(const struct target *t);

/* In which era the entry at |position| of ring |i| was written, before |now_ticks|. */
struct era ring_notes_find_era(
	const struct target *t, uint32_t i, uint64_t position, uint64_t now_ticks);

/*
 * Tells |log|, a picture of ring |i| that is open, in which eras its records were written, all before |now_ticks|; those
 * that are not the recorder's are none. 0, or -ENOMEM: nothing is left of it, and it is counted.
 */
int ring_notes_tell(struct target *t, uint32_t i, struct thread_log *log, uint64_t now_ticks,
	struct drain_budget *budget);

#endif
