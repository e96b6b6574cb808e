/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encoded bytes in large pieces: what an encoder writes into and what the transport sends without
 * copying. A chunk never moves once it holds bytes, so an earlier position can be patched.
 */
#ifndef BASE_CHUNKS_H
#define BASE_CHUNKS_H

#include <stddef.h>
#include <stdint.h>

#define CHUNK_BYTES (1u << 20)

struct chunk {
	uint8_t *data; /* malloc'ed, or lent */
	size_t used_bytes;
	size_t size_bytes;
	void (*give_back)(void *lender); /* NULL: free(data) */
	void *lender;
};

struct chunks {
	struct chunk *chunks;
	size_t n_chunks;
	size_t n_allocated;
	uint64_t total_bytes; /* sum of used_bytes of all chunks */
	int error; /* 0, -ENOMEM or -ECANCELED, sticky: writers check once, at the end */
	const _Atomic int *cancel; /* raised: no more bytes are wanted (base/cancel.h); NULL ok */
};

/* All zero bytes is the empty state: CHUNKS_INIT or memset. */
#define CHUNKS_INIT                    \
	{                              \
		NULL, 0, 0, 0, 0, NULL \
	}

void chunks_deinit(struct chunks *c);
/* Forgets what is in it, keeping a chunk of its own for what comes next. */
void chunks_rewind(struct chunks *c);

/*
 * Room for |n| contiguous bytes at the end, or NULL when memory ran out or no more is wanted (then c->error is set).
 * Write at most |n| bytes there, then say how many with chunks_commit().
 */
uint8_t *chunks_reserve(struct chunks *c, size_t n);
void chunks_commit(struct chunks *c, size_t n);

void chunks_append(struct chunks *c, const void *data, size_t n);

/*
 * Appends |n| bytes at |data| without a copy. They are only read, and must stay until |give_back| is called with |lender|,
 * on any thread: once, also on failure.
 */
void chunks_lend(struct chunks *c, const uint8_t *data, size_t n, void (*give_back)(void *lender),
	void *lender);

/*
 * The same with room for |n| bytes at |data|, which is where chunks_reserve() finds room next, if it is enough.
 */
void chunks_lend_room(
	struct chunks *c, uint8_t *data, size_t n, void (*give_back)(void *lender), void *lender);

/* Frees what a chunk holds. */
void chunk_deinit(struct chunk *chunk);

/* Moves everything in |from| behind |c|; |from| is empty afterwards, also on failure. */
void chunks_take(struct chunks *c, struct chunks *from);

#endif
