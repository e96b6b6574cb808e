/* SPDX-License-Identifier: Apache-2.0 */
/* When a recording's slots are too many for memory: the way of what lies in its logs to a spool. */
#ifndef DAEMON_SPILL_H
#define DAEMON_SPILL_H

#include <stdint.h>

struct recording;
struct source;
struct space;

/* After each visit: gives away what is in the logs when it is more than the window. 0 or -ENOMEM. */
int spill_look(struct recording *r);

/*
 * When |n_bytes| of records are there, maybe not yet in the logs, and none were given away: begins to, if it is worth it,
 * each time that spill_give() is called.
 */
void spill_begin(struct recording *r, uint64_t n_bytes);
/* Gives away what is in the logs, if it was begun; waits while too much is under way. 0 or -ENOMEM. */
int spill_give(struct recording *r);

/*
 * When all records are there and none were given away: gives them away, to be encoded a part at a time, if that is worth
 * it; what is too large for memory to a file. 0 or -ENOMEM.
 */
int spill_rest(struct recording *r);

/* After the last record of |s|: visits its rings until nothing is left behind, which may have to wait for the spool. */
void spill_catch_up(struct recording *r, struct source *s);

/* Why a capture that was too large for memory is not complete, if it is not. 0 or -ENOMEM. */
int spill_add_warnings(const struct recording *r, struct space *space);

#endif
