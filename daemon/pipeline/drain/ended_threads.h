/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What threads had recorded that are gone, while a flight recorder runs: copied out of their rings before these serve others,
 * so that a thread of ten records costs 160 bytes and not a ring. All processes share a bound; beyond it the thread that
 * ended first goes, and its entries count as overwritten. The one that ended last stays, however large it is.
 *
 * Threads: the worker's.
 */
#ifndef DAEMON_ENDED_THREADS_H
#define DAEMON_ENDED_THREADS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/wire/ring.h"

struct drain;
struct ended_thread;
struct shares;
struct target;

/* Of all processes, in the order of their ends. */
struct ended_pool {
	struct ended_thread *first;
	struct ended_thread **last;
	uint64_t max_bytes;
	uint64_t used_bytes;
	uint64_t
		allowed_bytes; /* that may still be taken for copies, whatever is given up for them */
};

/* Of threads that are not there any more, or never were for want of room. */
struct ended_sums {
	uint64_t n_overwritten; /* entries */
	uint64_t gone_ticks; /* no entry of theirs ended later; 0: they had none */
	uint64_t lost[LOSS_KINDS];
	uint64_t lost_memory; /* entries, for want of memory to copy them out to */
	uint64_t n_broken; /* rings that made no sense */
};

/* Of one process. */
struct ended_threads {
	struct ended_pool *pool; /* borrowed, as is |target| */
	struct target *target;
	size_t n; /* that are in the pool */
	struct ended_sums sums;
};

void ended_pool_init(struct ended_pool *pool);
void ended_pool_deinit(struct ended_pool *pool);
/* As many bytes, from here on, or one thread. */
void ended_pool_limit(struct ended_pool *pool, uint64_t max_bytes);
/* Until it is called again so many bytes of memory may be had, for one thread or many: that much is there. */
void ended_pool_allow(struct ended_pool *pool, uint64_t n_bytes);

/* All zero but for the two that it borrows. From here on rings_free() of |t|, whose notes are open (ring_notes.h), gives what there is. */
void ended_threads_init(struct ended_threads *e, struct ended_pool *pool, struct target *t);
/* Gives up what it has. */
void ended_threads_deinit(struct ended_threads *e);
/* Drops all threads, which are counted. */
void ended_threads_drop(struct ended_threads *e);

/* Copies out the ring |i|, whose thread is gone. What cannot be is counted. */
void ended_threads_take(struct ended_threads *e, uint32_t i);

/* What these copies want of a snapshot's memory. 0 or -ENOMEM. */
int ended_threads_add_shares(
	const struct ended_threads *e, uint64_t from_ticks, struct shares *shares);

/*
 * Adds copies of all there is of this process to |d|, as much of each as ended at |from_ticks| or later (0: all), and what is
 * known of the others. What |d|'s budget has no room for is counted there. 0 or -ENOMEM.
 */
int ended_threads_copy(const struct ended_threads *e, struct drain *d, uint64_t from_ticks);

/* Of a process that is let go: its sums go on in |to|. */
void ended_sums_add(struct ended_sums *to, const struct ended_sums *sums);
/* They are told with what |d| is told. */
void ended_sums_tell(const struct ended_sums *sums, struct drain *d);

#endif
