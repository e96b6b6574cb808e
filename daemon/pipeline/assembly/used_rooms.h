/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that was read from its beginning on and is written to again behind who reads it: what is fresh from the kernel costs
 * a page fault for each 4 KiB, more than writing it.
 *
 * Threads: one adds and lets go, another one finds and takes; or the same.
 */
#ifndef DAEMON_USED_ROOMS_H
#define DAEMON_USED_ROOMS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct used_room {
	uint8_t *data;
	size_t n_free; /* from its beginning on: nobody reads them any more */
	size_t n_taken; /* of these */
};

struct used_rooms {
	pthread_mutex_t mutex;
	struct used_room *rooms; /* in the order of adding; under mutex, with all below */
	size_t n;
	size_t n_allocated;
	size_t first; /* of the earlier ones too little is left */
};

void used_rooms_init(struct used_rooms *r);
void used_rooms_deinit(struct used_rooms *r);

/* Owner: |data| (malloc'ed) is the rooms', on failure the caller's. 0 or -ENOMEM. */
int used_rooms_add(struct used_rooms *r, void *data);
/* Of what was added last the first |n_bytes| are free; of the others nothing more will be. */
void used_rooms_let_go(struct used_rooms *r, size_t n_bytes);

/* |n_bytes| that are free, in a row; NULL: there are none. What is too small now stays so, unless it was added last. */
uint8_t *used_rooms_find(struct used_rooms *r, size_t n_bytes);
/* Of what was found the first |n_bytes| are free no more. */
void used_rooms_take(struct used_rooms *r, size_t n_bytes);

#endif
