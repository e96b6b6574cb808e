/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collectors of one process, seen through the arena's |collect| (lib/wire/arena.h; docs/internals/collectors.md): they are
 * asked for, ended, and listened to. What is said there nobody vouches for.
 *
 * Threads: the worker's.
 */
#ifndef DAEMON_COLLECT_H
#define DAEMON_COLLECT_H

#include <stddef.h>
#include <stdint.h>

struct target;

enum collect_stage {
	COLLECT_IDLE, /* nobody was asked, or all have ended */
	COLLECT_BEGINNING,
	COLLECT_RUNNING, /* they record, or wait until the program uses its device */
	COLLECT_ENDING,
	COLLECT_DONE, /* all that there is has been written */
};

/* Outcomes of collect_ask(), besides 0. */
enum {
	COLLECT_BUSY = 1, /* those of an earlier recording have not come back yet */
	COLLECT_STUCK = 2, /* and were given up */
};

/*
 * Has the program's collectors begin, with |options| (lines key=value). The last command must have been answered, and this one's
 * answer is not waited for. A negative errno: no memory for the words.
 */
int collect_ask(struct target *t, const char *options);
enum collect_stage collect_get_stage(const struct target *t);
/* Number + 1 of the ring that they write to; 0: none that there is. */
uint32_t collect_find_ring(const struct target *t);
/* CLOCK_MONOTONIC, since when a device is recorded; 0: none is. */
int64_t collect_get_since_ns(const struct target *t);

/* What is needed to understand what they write from here on is to be written again. */
void collect_repeat(struct target *t);

/* What is complete is to be in their ring; 1 when it is, or when they do not record. */
void collect_hand_on(struct target *t);
int collect_has_handed_on(const struct target *t);

/* They shall end; what they have is waited for. */
void collect_end(struct target *t);
/* The same, and nobody wants what they have. */
void collect_cancel(struct target *t);
/* They have not come back in time. */
void collect_give_up(struct target *t);
/* Of those that are done. */
void collect_forget(struct target *t);
/* Returns when the stage may be another one, or at |deadline_ns| (CLOCK_MONOTONIC). */
void collect_wait(struct target *t, int64_t deadline_ns);

/* What they have said so far, a line each, as they said it: at most |size| - 1 bytes. Returns how many there are. */
size_t collect_read_said(const struct target *t, char *to, size_t size);
/* Who is in the middle of what, "cuda (stop)" for one; "" when nobody is. */
void collect_describe_step(const struct target *t, char *to, size_t size);

#endif
