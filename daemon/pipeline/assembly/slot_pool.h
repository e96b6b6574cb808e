/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool of used memory for slots: fresh memory from the kernel costs a page fault for each 256
 * slots, more than copying them.
 *
 * Threads: any.
 */
#ifndef DAEMON_SLOT_POOL_H
#define DAEMON_SLOT_POOL_H

#include <pthread.h>
#include <stddef.h>

struct slot;

#define SLOT_POOL_MAX_ROOMS 64

struct slot_room {
	struct slot *slots;
	size_t n_allocated;
};

struct slot_pool {
	pthread_mutex_t mutex;
	struct slot_room rooms[SLOT_POOL_MAX_ROOMS]; /* under mutex, with the two below */
	size_t n_rooms;
	size_t n_slots; /* of all rooms */
};

void slot_pool_init(struct slot_pool *p);
void slot_pool_deinit(struct slot_pool *p);

/* Takes |slots| (malloc'ed, NULL ok). Keeps 8 MiB and frees the rest. */
void slot_pool_take(struct slot_pool *p, struct slot *slots, size_t n_allocated);
/* Returns NULL when the pool is empty. Owner: the caller (free). */
struct slot *slot_pool_steal(struct slot_pool *p, size_t *n_allocated_out);

#endif
