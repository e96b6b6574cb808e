/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of ended threads, while a flight recorder runs. They are copied out of the rings
 * before other threads get these, so that ten records of a thread take 160 bytes and not a ring.
 * All processes share a bound. Beyond it the thread that ended first is dropped, and its entries
 * count as overwritten. The thread that ended last stays, however large it is.
 *
 * Threads: only the worker calls these functions.
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

/* The ended threads of all processes, in the order of their ends. */
struct ended_pool {
	struct ended_thread *first;
	struct ended_thread **last;
	uint64_t max_bytes;
	uint64_t used_bytes;
	/* bytes that new copies may still take; dropping older ones gives none back */
	uint64_t allowed_bytes;
};

/* Sums over the threads that are not in the pool any more, or had no room in it. */
struct ended_sums {
	uint64_t n_overwritten; /* entries */
	uint64_t gone_ticks; /* none of their entries ended later; 0: they had none */
	uint64_t lost[LOSS_KINDS];
	uint64_t lost_memory; /* entries that were not copied for want of memory */
	uint64_t n_broken; /* rings with invalid positions */
};

/* The ended threads of one process. */
struct ended_threads {
	struct ended_pool *pool; /* borrowed, as is |target| */
	struct target *target;
	size_t n; /* threads in the pool */
	struct ended_sums sums;
};

void ended_pool_init(struct ended_pool *pool);
void ended_pool_deinit(struct ended_pool *pool);
/* Bounds the pool: it holds at most |max_bytes|, or one thread. */
void ended_pool_limit(struct ended_pool *pool, uint64_t max_bytes);
/* Allows |n_bytes| of memory for copies, of one thread or many, until the next call. */
void ended_pool_allow(struct ended_pool *pool, uint64_t n_bytes);

/*
 * Borrows |pool| and |t|, whose notes are open (ring_notes.h). From here on rings_free() of |t|
 * hands over the records of ended threads.
 */
void ended_threads_init(struct ended_threads *e, struct ended_pool *pool, struct target *t);
/* Leaves the threads in the pool, without an owner. */
void ended_threads_deinit(struct ended_threads *e);
/* Drops all threads, and counts their entries. */
void ended_threads_drop(struct ended_threads *e);

/* Copies out the ring |i|, whose thread is gone. Counts the entries that it cannot copy. */
void ended_threads_take(struct ended_threads *e, uint32_t i);

/* Adds to |shares| the memory that copies of these threads take in a snapshot. 0 or -ENOMEM. */
int ended_threads_add_shares(
	const struct ended_threads *e, uint64_t from_ticks, struct shares *shares);

/*
 * Adds copies of this process's threads to |d|, as much of each as ended at |from_ticks| or later
 * (0: all), and the sums of the dropped threads. |d| counts the entries for which its budget has no
 * room. 0 or -ENOMEM.
 */
int ended_threads_copy(const struct ended_threads *e, struct drain *d, uint64_t from_ticks);

/* Adds |sums|, of a process that is forgotten, to |to|. */
void ended_sums_add(struct ended_sums *to, const struct ended_sums *sums);
/* Adds |sums| to the losses of |d|. */
void ended_sums_tell(const struct ended_sums *sums, struct drain *d);

#endif
