/* SPDX-License-Identifier: Apache-2.0 */
/* Where in a ring lies what ended lately, so that no more of it is copied. */
#ifndef DAEMON_RING_REACH_H
#define DAEMON_RING_REACH_H

#include <stdint.h>

struct target;

/*
 * All entries of ring |i|, whose notes are open, that ended at |from_ticks| or later lie at the position that is returned or
 * behind it, a segment more than these at most where its thread wrote at a time. 0: anywhere.
 */
uint64_t ring_reach_find(const struct target *t, uint32_t i, uint64_t from_ticks);

#endif
