/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers of one size, for threads that must not wait: no lock, no malloc. A buffer is free (and
 * zero), taken, or in the queue of filled ones. The addresses are reserved at once; memory comes
 * page by page as it is written.
 *
 * The writer of a buffer may keep it for any time, past the end of a capture and of all captures: a
 * pool is never unmapped.
 */
#ifndef PLUGINS_CUDA_POOL_H
#define PLUGINS_CUDA_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POOL_NONE UINT32_MAX

/* The state of a buffer; for a free one |n_bytes| means nothing. */
struct pool_entry {
	_Atomic uint32_t next; /* the next buffer of its list */
	_Atomic uint32_t is_taken; /* handed out and not filled yet */
	size_t n_bytes; /* bytes filled */
};

struct pool {
	uint8_t *memory;
	struct pool_entry *entries;
	size_t buffer_bytes;
	uint32_t n_buffers;
	_Atomic uint64_t free; /* number of the first | count of changes << 32 */
	_Atomic uint32_t filled; /* number of the newest filled buffer */
	_Atomic uint32_t n_used; /* number of buffers that are taken or filled */
	_Atomic uint32_t most_used;
};

/*
 * Makes room for |n| buffers of |buffer_bytes| (whole pages), or for fewer if the address space
 * is too small. 0, or -ENOMEM: not even one fits.
 */
int pool_init(struct pool *p, uint32_t n, size_t buffer_bytes);

/* Takes a buffer. Any thread may call it. NULL: none is left. */
uint8_t *pool_take(struct pool *p);

/* Returns true if |buffer| is a taken buffer of this pool. */
bool pool_owns(const struct pool *p, const uint8_t *buffer);

/*
 * Returns a taken buffer, filled or unused. Any thread may call it. A buffer that was not taken is
 * left alone: -EINVAL.
 */
int pool_put_filled(struct pool *p, uint8_t *buffer, size_t n_bytes);
int pool_put_back(struct pool *p, uint8_t *buffer);

struct pool_filled {
	uint8_t *buffer;
	size_t n_bytes;
};

/*
 * Takes the queue of filled buffers, oldest first: the result is the number of the first,
 * pool_next() returns the others; POOL_NONE: no more. Each goes back by pool_recycle(). For one
 * thread.
 */
uint32_t pool_take_filled(struct pool *p);
uint32_t pool_next(const struct pool *p, uint32_t number);
struct pool_filled pool_get(const struct pool *p, uint32_t number);
void pool_recycle(struct pool *p, uint32_t number);

/*
 * Returns the memory of free buffers to the system, but for a few that other threads may want
 * meanwhile.
 */
void pool_trim(struct pool *p);

/* Called in a forked child, where no thread fills buffers: all become free and zero. */
void pool_reset(struct pool *p);

#endif
