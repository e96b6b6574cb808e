/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encoded bytes in large pieces: an encoder writes into them, and the transport sends them without
 * copying. A chunk never moves once it holds bytes, so an earlier position can be patched.
 */
#ifndef BASE_CHUNKS_H
#define BASE_CHUNKS_H

#include <stdbool.h>
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
	/* a flag: once it is raised, chunks_reserve() fails (base/cancel.h); NULL: none */
	const _Atomic int *cancel;
};

/* A struct of all zero bytes is empty: use CHUNKS_INIT or memset(). */
#define CHUNKS_INIT                    \
	{                              \
		NULL, 0, 0, 0, 0, NULL \
	}

void chunks_deinit(struct chunks *c);
/* Removes all bytes and the error, but keeps the first chunk for reuse, unless it was lent. */
void chunks_rewind(struct chunks *c);

/*
 * Returns room for |n| contiguous bytes at the end. Write at most |n| bytes there, then call
 * chunks_commit() with their number. Returns NULL with c->error set if memory ran out, or
 * |cancel| is raised.
 */
uint8_t *chunks_reserve(struct chunks *c, size_t n);
void chunks_commit(struct chunks *c, size_t n);

void chunks_append(struct chunks *c, const void *data, size_t n);

/*
 * Appends |n| bytes at |data| without a copy. They are only read. They must stay valid until
 * |give_back| is called with |lender|. It is called once, on any thread, also on failure.
 */
void chunks_lend(struct chunks *c, const uint8_t *data, size_t n, void (*give_back)(void *lender),
	void *lender);

/*
 * Appends the |n| bytes at |data| as an empty chunk: the next chunks_reserve() takes its room
 * from them if they are enough. For |give_back| the rules of chunks_lend() hold.
 */
void chunks_lend_room(
	struct chunks *c, uint8_t *data, size_t n, void (*give_back)(void *lender), void *lender);

/* Moves everything in |from| to the end of |c|; |from| is empty afterwards, also on failure. */
void chunks_take(struct chunks *c, struct chunks *from);

/*
 * Reads chunks once, from front to back, and frees each after it was read. A reader of all zero
 * bytes has no chunks.
 */
struct chunk_reader {
	struct chunks chunks; /* total_bytes includes all of the current chunk */
	size_t chunk; /* the current one */
	size_t at; /* offset in the current chunk */
	uint64_t n_read; /* in all chunks */
};

/* Takes the contents of |chunks|. */
void chunk_reader_init(struct chunk_reader *r, struct chunks *chunks);
void chunk_reader_deinit(struct chunk_reader *r);

/* Copies the next |n| bytes, or fewer at the end. Returns the number of bytes copied. */
size_t chunk_reader_read(struct chunk_reader *r, uint8_t *to, size_t n);
bool chunk_reader_is_at_end(const struct chunk_reader *r);

/*
 * Moves the unread bytes to the end of |to|. If |to| has an error already, the error stays, and
 * the bytes are freed.
 */
void chunk_reader_take_rest(struct chunk_reader *r, struct chunks *to);

#endif
