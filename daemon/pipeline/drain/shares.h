/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides the memory of a snapshot that is too small for all records. All threads that get less
 * than they want get the same share, and no thread gets more than this, so that the newest records
 * of each thread are there.
 */
#ifndef DAEMON_SHARES_H
#define DAEMON_SHARES_H

#include <stddef.h>
#include <stdint.h>

/* All zero: no thread was added. */
struct shares {
	uint64_t *wants; /* number of slots, by thread */
	size_t n;
	size_t n_allocated;
	uint64_t fixed_bytes; /* bytes of the logs without their slots */
};

void shares_deinit(struct shares *s);
/* Adds a thread that has |n_slots| slots and |n_open| open spans. 0 or -ENOMEM. */
int shares_add(struct shares *s, uint64_t n_slots, uint32_t n_open);
/*
 * The most slots that each thread may have if all share |max_bytes|; at least 1. Sorts the threads.
 */
uint64_t shares_find(struct shares *s, uint64_t max_bytes);

#endif
