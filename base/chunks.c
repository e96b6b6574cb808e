/* SPDX-License-Identifier: Apache-2.0 */
/* Encoded bytes in large pieces; see chunks.h. */
#include "base/chunks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/grow.h"

/* Frees the bytes of a chunk, or gives them back if they were lent. */
static void chunk_deinit(struct chunk *chunk)
{
	if (chunk->give_back)
		chunk->give_back(chunk->lender);
	else
		free(chunk->data);
	memset(chunk, 0, sizeof *chunk);
}

void chunks_deinit(struct chunks *c)
{
	for (size_t i = 0; i < c->n_chunks; i++)
		chunk_deinit(&c->chunks[i]);
	free(c->chunks);
	memset(c, 0, sizeof *c);
}

void chunks_rewind(struct chunks *c)
{
	size_t n_kept = c->n_chunks && !c->chunks[0].give_back;

	for (size_t i = n_kept; i < c->n_chunks; i++)
		chunk_deinit(&c->chunks[i]);
	if (n_kept)
		c->chunks[0].used_bytes = 0;
	c->n_chunks = n_kept;
	c->total_bytes = 0;
	c->error = 0;
}

static int add_chunk(struct chunks *c, size_t size)
{
	struct chunk *chunk;

	if (grow(&c->chunks, &c->n_allocated, c->n_chunks + 1))
		return -ENOMEM;
	chunk = &c->chunks[c->n_chunks];
	*chunk = (struct chunk){.data = malloc(size), .size_bytes = size};
	if (!chunk->data)
		return -ENOMEM;
	c->n_chunks++;
	return 0;
}

uint8_t *chunks_reserve(struct chunks *c, size_t n)
{
	struct chunk *last = c->n_chunks ? &c->chunks[c->n_chunks - 1] : NULL;

	if (!c->error)
		c->error = cancel_check(c->cancel);
	if (c->error)
		return NULL;
	if (!last || last->size_bytes - last->used_bytes < n) {
		c->error = add_chunk(c, n > CHUNK_BYTES ? n : CHUNK_BYTES);
		if (c->error)
			return NULL;
		last = &c->chunks[c->n_chunks - 1];
	}
	return last->data + last->used_bytes;
}

void chunks_commit(struct chunks *c, size_t n)
{
	c->chunks[c->n_chunks - 1].used_bytes += n;
	c->total_bytes += n;
}

void chunks_append(struct chunks *c, const void *data, size_t n)
{
	uint8_t *p = n ? chunks_reserve(c, n) : NULL;

	if (!p)
		return;
	memcpy(p, data, n);
	chunks_commit(c, n);
}

static void chunks_append_lent(struct chunks *c, const struct chunk *chunk)
{
	if (!c->error)
		c->error = grow(&c->chunks, &c->n_allocated, c->n_chunks + 1);
	if (c->error) {
		chunk->give_back(chunk->lender);
		return;
	}
	c->chunks[c->n_chunks++] = *chunk;
	c->total_bytes += chunk->used_bytes;
}

void chunks_lend(
	struct chunks *c, const uint8_t *data, size_t n, void (*give_back)(void *), void *lender)
{
	/* The chunk has no room left for writing behind these bytes. */
	const struct chunk chunk = {(uint8_t *)data, n, n, give_back, lender};

	chunks_append_lent(c, &chunk);
}

void chunks_lend_room(
	struct chunks *c, uint8_t *data, size_t n, void (*give_back)(void *), void *lender)
{
	const struct chunk chunk = {data, 0, n, give_back, lender};

	chunks_append_lent(c, &chunk);
}

void chunks_take(struct chunks *c, struct chunks *from)
{
	if (!c->error)
		c->error = from->error;
	if (!c->error)
		c->error = grow(&c->chunks, &c->n_allocated, c->n_chunks + from->n_chunks);
	if (!c->error && from->n_chunks) {
		memcpy(c->chunks + c->n_chunks, from->chunks,
			from->n_chunks * sizeof *from->chunks);
		c->n_chunks += from->n_chunks;
		c->total_bytes += from->total_bytes;
		from->n_chunks = 0;
	}
	chunks_deinit(from);
}

/* --- Reading --------------------------------------------------------------------------------- */

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

/* Frees the current chunk, which was read. */
static void chunk_reader_leave_chunk(struct chunk_reader *r)
{
	struct chunk *chunk = &r->chunks.chunks[r->chunk];

	r->chunks.total_bytes -= chunk->used_bytes;
	chunk_deinit(chunk);
	r->chunk++;
	r->at = 0;
}

bool chunk_reader_is_at_end(const struct chunk_reader *r)
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
			chunk_reader_leave_chunk(r);
	}
	r->n_read += done;
	return done;
}

/* Drops the bytes of the current chunk that were read. */
static void chunk_reader_drop_read(struct chunk_reader *r)
{
	struct chunk *chunk = &r->chunks.chunks[r->chunk];

	/* Lent bytes must not be changed. */
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
		chunk_reader_drop_read(r);
	chunks_take(to, &r->chunks);
	r->chunk = 0;
}
