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
	COLLECT_IDLE, /* not asked, or all have ended */
	COLLECT_BEGINNING,
	COLLECT_RUNNING, /* they record, or wait until the program uses its device */
	COLLECT_ENDING,
	COLLECT_DONE, /* all data have been written */
};

/* Outcomes of collect_ask(), besides 0. */
enum {
	COLLECT_BUSY = 1, /* the collectors of an earlier recording have not come back yet */
	COLLECT_STUCK = 2, /* the same, and they were given up */
};

/*
 * Starts the program's collectors with |options| (lines key=value). The last command must have been
 * answered; this function does not wait for the answer to its own. A negative errno: no memory for
 * the words.
 */
int collect_ask(struct target *t, const char *options);
enum collect_stage collect_get_stage(const struct target *t);
/* Returns the number + 1 of the ring that they write to; 0: there is none. */
uint32_t collect_find_ring(const struct target *t);
/* Returns since when a device is recorded, CLOCK_MONOTONIC; 0: none is. */
int64_t collect_get_since_ns(const struct target *t);

/* Asks them to write again all that is needed to understand their later records. */
void collect_repeat(struct target *t);

/* Asks them to write complete records to their ring; 1 when that is done, or they do not record. */
void collect_hand_on(struct target *t);
bool collect_has_handed_on(const struct target *t);

/* Ends them, and lets them write the rest of their data. */
void collect_end(struct target *t);
/* Ends them; the rest of their data is not needed. */
void collect_cancel(struct target *t);
/* Gives up collectors that have not come back in time. */
void collect_give_up(struct target *t);
/* Resets the state of collectors that are done. */
void collect_forget(struct target *t);
/* Returns when the stage may have changed, or at |deadline_ns| (CLOCK_MONOTONIC). */
void collect_wait(struct target *t, int64_t deadline_ns);

/*
 * Copies their messages so far, a line each, unchecked: at most |size| - 1 bytes. Returns the
 * number of bytes.
 */
size_t collect_read_said(const struct target *t, char *to, size_t size);
/*
 * Names the collector that is in the middle of a step, such as "cuda (stop)"; "" if there is none.
 */
void collect_describe_step(const struct target *t, char *to, size_t size);

#endif
