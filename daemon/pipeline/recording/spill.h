/* SPDX-License-Identifier: Apache-2.0 */
/* Moves a recording's slots from its logs to a spool, when they are too many for memory. */
#ifndef DAEMON_SPILL_H
#define DAEMON_SPILL_H

#include <stdint.h>

struct recording;
struct source;
struct space;

/*
 * Called after each visit: spools the slots of the logs when they reach r->budget.window_bytes, or
 * a part of it once there is a sink. 0 or -ENOMEM.
 */
int spill_excess(struct recording *r);

/*
 * Called when |n_bytes| of records exist, maybe not yet in the logs, and none were spooled.
 * Prepares for spill_give() if spooling is worth it.
 */
void spill_begin(struct recording *r, uint64_t n_bytes);
/*
 * Spools the slots of the logs, if spooling has begun; waits while too many slots are on
 * their way. 0 or -ENOMEM.
 */
int spill_give(struct recording *r);

/*
 * Called when all records exist. If none were spooled, spools them if it is worth it: they are then
 * encoded a part at a time, and go into a file when they are too large for memory. 0 or -ENOMEM.
 */
int spill_rest(struct recording *r);

/*
 * Called at the end of recording |s|: visits its rings until they are empty, or a limited number
 * of times if it still writes. May wait for the spool.
 */
void spill_catch_up(struct recording *r, struct source *s);

/* Adds warnings about why a large capture is not complete. 0 or -ENOMEM. */
int spill_add_warnings(const struct recording *r, struct space *space);

#endif
