/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes the new records in the rings of one process to its triggers. The watch copies the
 * records and keeps its own positions, so that it disturbs neither the recorder's pictures
 * nor a capture's drain.
 *
 * Threads: only the worker calls these functions.
 */
#ifndef DAEMON_TRIGGER_WATCH_H
#define DAEMON_TRIGGER_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct target;
struct triggers;

/*
 * Starts to watch the rings of |t|, each one once its thread has joined the recording. |triggers|
 * is borrowed. With |is_late| the records that the rings hold now are ignored. 0 or -ENOMEM.
 */
int trigger_watch_open(struct target *t, struct triggers *triggers, bool is_late);
/* Does nothing when the watch is not open. */
void trigger_watch_close(struct target *t);

/* Entries were overwritten before the watch read them. */
#define TRIGGER_WATCH_OUTRUN 1001u

/*
 * Visits ring |i|, which a thread uses. Returns how much of the ring was new, in 1/1000, or
 * TRIGGER_WATCH_OUTRUN.
 */
unsigned trigger_watch_visit(struct target *t, uint32_t i);

#endif
