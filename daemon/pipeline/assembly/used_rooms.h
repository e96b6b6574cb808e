/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that one reader reads from its beginning on, and that is written to again behind the
 * reader: fresh memory from the kernel costs a page fault for each 4 KiB, more than writing it.
 *
 * Threads: one thread adds and lets go, one finds and takes; both may be the same.
 */
#ifndef DAEMON_USED_ROOMS_H
#define DAEMON_USED_ROOMS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct used_room {
	uint8_t *data;
	size_t n_free; /* bytes from the beginning of |data| on that were read */
	size_t n_taken; /* bytes of the free ones that are used again */
};

struct used_rooms {
	pthread_mutex_t mutex;
	struct used_room *rooms; /* in the order of adding; under mutex, with all below */
	size_t n;
	size_t n_allocated;
	size_t first; /* earlier rooms have too little left */
};

void used_rooms_init(struct used_rooms *r);
void used_rooms_deinit(struct used_rooms *r);

/* Owner: |data| (malloc'ed) belongs to |r|, or on failure to the caller. 0 or -ENOMEM. */
int used_rooms_add(struct used_rooms *r, void *data);
/*
 * Lets the first |n_bytes|, in all, of the room that was added last be used again; the earlier
 * rooms stay as they are.
 */
void used_rooms_let_go(struct used_rooms *r, size_t n_bytes);

/*
 * Finds |n_bytes| in a row that are free; NULL: there are none. Rooms with too few free bytes are
 * skipped for ever, except for the last one, which can still get more.
 */
uint8_t *used_rooms_find(struct used_rooms *r, size_t n_bytes);
/* Takes the first |n_bytes| of the bytes that used_rooms_find() found. */
void used_rooms_take(struct used_rooms *r, size_t n_bytes);

#endif
