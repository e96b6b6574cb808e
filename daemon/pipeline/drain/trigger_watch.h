/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is new in the rings of one process since the last look, for its triggers: copied, with positions of its own, so that
 * neither the recorder's pictures nor a capture's drain notice.
 *
 * Threads: the worker's.
 */
#ifndef DAEMON_TRIGGER_WATCH_H
#define DAEMON_TRIGGER_WATCH_H

#include <stdint.h>

struct target;
struct triggers;

/*
 * From here on rings of |t|, where threads have entered the recording, are looked at for |triggers|, which are borrowed. With
 * |is_late| what they hold already is of no interest. 0 or -ENOMEM.
 */
int trigger_watch_open(struct target *t, struct triggers *triggers, int is_late);
/* Nothing when it is not open. */
void trigger_watch_close(struct target *t);

/* Entries were overwritten before they were looked at. */
#define TRIGGER_WATCH_OUTRUN 1001u

/* Ring |i|, used by a thread. Returns how much of the ring was new, in 1/1000, or TRIGGER_WATCH_OUTRUN. */
unsigned trigger_watch_visit(struct target *t, uint32_t i);

#endif
