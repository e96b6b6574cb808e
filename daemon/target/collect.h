/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Controls the collectors of one process through the arena's |collect| (lib/wire/arena.h;
 * docs/internals/collectors.md). The program can write anything there, so nothing is trusted.
 *
 * Threads: the worker's.
 */
#ifndef DAEMON_COLLECT_H
#define DAEMON_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct target;

enum collect_stage {
	COLLECT_IDLE, /* no collector was asked to record, or DONE was forgotten */
	COLLECT_BEGINNING,
	COLLECT_RUNNING, /* the collectors record, or wait until the program uses their device */
	COLLECT_ENDING,
	COLLECT_DONE, /* all data have been written */
};

/* Outcomes of collect_ask(), besides 0. */
enum {
	COLLECT_BUSY = 1, /* the collectors of an earlier recording have not ended yet */
	COLLECT_STUCK = 2, /* the same, and this server no longer waits for them */
};

/*
 * Starts the program's collectors with |options| (lines key=value). The program must have answered
 * the last command. This function sends one and does not wait for the answer. A negative errno:
 * there is no memory for the arena's |collect|.
 */
int collect_ask(struct target *t, const char *options);
enum collect_stage collect_get_stage(const struct target *t);
/* Returns the number + 1 of the ring that the collectors write to; 0: there is none. */
uint32_t collect_find_ring(const struct target *t);
/* Returns the CLOCK_MONOTONIC time since which a device is recorded; 0: no device is recorded. */
int64_t collect_get_since_ns(const struct target *t);

/* Asks the collectors to write again all that a reader needs to decode their later records. */
void collect_repeat(struct target *t);

/*
 * Asks the collectors to write their complete records to their ring. collect_has_handed_on()
 * returns true when they have done so, or do not record.
 */
void collect_hand_on(struct target *t);
bool collect_has_handed_on(const struct target *t);

/* Ends the collectors, and lets them write the rest of their data. */
void collect_end(struct target *t);
/* Ends the collectors; the rest of their data is not needed. */
void collect_cancel(struct target *t);
/* Cancels collectors that have not ended in time; this server stops waiting for them. */
void collect_give_up(struct target *t);
/* Resets the state of collectors that are done. */
void collect_forget(struct target *t);
/* Waits until the stage may have changed, or until |deadline_ns| (CLOCK_MONOTONIC). */
void collect_wait(struct target *t, int64_t deadline_ns);

/*
 * Copies the collectors' messages so far, one per line, without a check: at most |size| - 1 bytes.
 * Returns the number of bytes.
 */
size_t collect_read_said(const struct target *t, char *to, size_t size);
/*
 * Writes the name of the collector that is in the middle of a step, and the step, such as "cuda
 * (stop)"; "" if there is none.
 */
void collect_describe_step(const struct target *t, char *to, size_t size);

#endif
