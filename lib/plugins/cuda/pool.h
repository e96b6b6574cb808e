/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers of one size, for threads that must not wait: no lock, no malloc. A buffer is free, and zero then, or taken, or in the queue
 * of those that are filled. The memory is reserved at once and comes page by page as it is written.
 *
 * Who fills a buffer may keep it for any time, past the end of a capture and of all captures: a pool is never unmapped.
 */
#ifndef PLUGINS_CUDA_POOL_H
#define PLUGINS_CUDA_POOL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define POOL_NONE UINT32_MAX

/* A buffer's; of one that is free only |next| means anything. */
struct pool_entry {
	_Atomic uint32_t next; /* in the list that it is in */
	_Atomic uint32_t is_taken; /* handed out, and not filled yet */
	size_t n_bytes; /* of what is filled */
};

struct pool {
	uint8_t *memory;
	struct pool_entry *entries;
	size_t buffer_bytes;
	uint32_t n_buffers;
	_Atomic uint64_t free; /* the first one | how often it changed << 32 */
	_Atomic uint32_t filled; /* the last one that came */
	_Atomic uint32_t n_used; /* taken or filled */
	_Atomic uint32_t most_used;
};

/* Room for |n| buffers of |buffer_bytes| (whole pages), or for as many as addresses can be had for. 0 or -ENOMEM: for none. */
int pool_init(struct pool *p, uint32_t n, size_t buffer_bytes);

/* Any thread. NULL: there is none left. */
uint8_t *pool_take(struct pool *p);

/* Whether |buffer| is one of this pool's that is taken. */
int pool_owns(const struct pool *p, const uint8_t *buffer);

/* Any thread: what was taken is filled, or not wanted after all. A buffer that was not taken is left alone: -EINVAL. */
int pool_put_filled(struct pool *p, uint8_t *buffer, size_t n_bytes);
int pool_put_back(struct pool *p, uint8_t *buffer);

struct pool_filled {
	uint8_t *buffer;
	size_t n_bytes;
};

/*
 * One thread: takes the queue; the numbers of its buffers are |*first| and what pool_next() says, oldest first; POOL_NONE: no more. Each goes
 * back by pool_recycle().
 */
uint32_t pool_take_filled(struct pool *p);
uint32_t pool_next(const struct pool *p, uint32_t number);
struct pool_filled pool_get(const struct pool *p, uint32_t number);
void pool_recycle(struct pool *p, uint32_t number);

/* Gives the memory of those that are free back to the system, but for a few that others may want meanwhile. */
void pool_trim(struct pool *p);

/* In a forked child, where nobody fills any: all are free, and zero. */
void pool_reset(struct pool *p);

#endif
