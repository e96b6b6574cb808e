/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes about the positions of all rings of a process, taken every few hours while a flight
 * recorder runs. They date old records: the ring of an idle thread can hold records from days ago,
 * whose times have too few bits for that. See era.h and docs/internals/ring.md.
 *
 * Threads: only the worker calls these functions.
 */
#ifndef DAEMON_RING_NOTES_H
#define DAEMON_RING_NOTES_H

#include <stdbool.h>
#include <stdint.h>

struct drain_budget;
struct target;
struct thread_log;

/*
 * The most notes of one ring. They cover 35 days at 3 GHz, or more if its thread wrote nothing for
 * long. Records before the first note cannot be dated.
 */
#define RING_NOTES_MAX 128u

/*
 * Starts the notes of |t|'s rings. Their present records were written after |since_ticks|; 0: they
 * do not belong to the recorder. 0 or -ENOMEM.
 */
int ring_notes_open(struct target *t, bool uses_ticks, uint64_t since_ticks);
/* Does nothing when the notes are not open. */
void ring_notes_close(struct target *t);

/*
 * Notes the positions of the rings that threads have, when the next note is due. Touches no other
 * memory of the rings.
 */
void ring_notes_update(struct target *t, uint64_t now_ticks);

/* Reads the clock of |t|'s recording. */
uint64_t ring_notes_now(const struct target *t);

/*
 * Sets the eras of |log|, a picture of ring |i|, whose records were all written before |now_ticks|.
 * Removes records that do not belong to the recorder. 0, or -ENOMEM: all records are removed, and
 * counted as lost.
 */
int ring_notes_tell(struct target *t, uint32_t i, struct thread_log *log, uint64_t now_ticks,
	struct drain_budget *budget);

/*
 * Returns a position of ring |i|, whose notes are open: all entries that ended at |from_ticks| or
 * later lie there or behind it. At most one segment of older entries lies there, too, if the thread
 * wrote in the order of time. 0 when such entries can be anywhere.
 */
uint64_t ring_notes_find_reach(const struct target *t, uint32_t i, uint64_t from_ticks);

#endif
