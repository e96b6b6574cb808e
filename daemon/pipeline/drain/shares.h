/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a snapshot's memory is divided where it is too short for all that threads have: nobody gets more than another one who
 * still wants some, so that of each the newest is there.
 */
#ifndef DAEMON_SHARES_H
#define DAEMON_SHARES_H

#include <stddef.h>
#include <stdint.h>

/* All zero: nobody wants anything. */
struct shares {
	uint64_t *wants; /* slots, by thread */
	size_t n;
	size_t n_allocated;
	uint64_t fixed_bytes; /* what their logs take beside the slots */
};

void shares_deinit(struct shares *s);
/* One more, which has |n_open| spans open. 0 or -ENOMEM. */
int shares_add(struct shares *s, uint64_t n_slots, uint32_t n_open);
/* How many slots each may have at most, of |max_bytes| for all; at least 1. Their order is lost. */
uint64_t shares_find(struct shares *s, uint64_t max_bytes);

#endif
