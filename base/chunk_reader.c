/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks, read; see chunk_reader.h. */
#include "base/chunk_reader.h"

#include <string.h>

void chunk_reader_init(struct chunk_reader *r, struct chunks *chunks)
{
	*r = (struct chunk_reader){.chunks = *chunks};
	*chunks = (struct chunks)CHUNKS_INIT;
}

void chunk_reader_deinit(struct chunk_reader *r)
{
	chunks_deinit(&r->chunks);
	memset(r, 0, sizeof *r);
}

/* A chunk that was read is of no use any more. */
static void leave_chunk(struct chunk_reader *r)
{
	struct chunk *chunk = &r->chunks.chunks[r->chunk];

	r->chunks.total_bytes -= chunk->used_bytes;
	chunk_deinit(chunk);
	r->chunk++;
	r->at = 0;
}

int chunk_reader_is_at_end(const struct chunk_reader *r)
{
	return r->chunk == r->chunks.n_chunks;
}

size_t chunk_reader_read(struct chunk_reader *r, uint8_t *to, size_t n)
{
	size_t done = 0;

	while (done < n && !chunk_reader_is_at_end(r)) {
		const struct chunk *chunk = &r->chunks.chunks[r->chunk];
		size_t left = chunk->used_bytes - r->at;
		size_t part = left < n - done ? left : n - done;

		memcpy(to + done, chunk->data + r->at, part);
		done += part;
		r->at += part;
		if (r->at == chunk->used_bytes)
			leave_chunk(r);
	}
	r->n_read += done;
	return done;
}

/* Of a chunk that was read in part only the rest goes. */
static void drop_read_part(struct chunk_reader *r)
{
	struct chunk *chunk = &r->chunks.chunks[r->chunk];

	/* What is lent is only read. */
	if (chunk->give_back)
		chunk->data += r->at;
	else
		memmove(chunk->data, chunk->data + r->at, chunk->used_bytes - r->at);
	chunk->used_bytes -= r->at;
	r->chunks.total_bytes -= r->at;
	r->at = 0;
}

void chunk_reader_take_rest(struct chunk_reader *r, struct chunks *to)
{
	if (r->at)
		drop_read_part(r);
	chunks_take(to, &r->chunks);
	r->chunk = 0;
}
