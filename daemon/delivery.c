/* SPDX-License-Identifier: Apache-2.0 */
/* A trace on its way out; see delivery.h. */
#include "daemon/delivery.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "trace/run_dir.h"

#define PIECE_BYTES ((size_t)256 << 10)

struct delivery {
	uint64_t n_bytes;
	struct chunks chunks;
	size_t chunk; /* that is being read */
	size_t at; /* in it */
};

int delivery_new_from_chunks(struct chunks *chunks, struct delivery **out)
{
	struct delivery *d = chunks->error ? NULL : calloc(1, sizeof *d);

	if (!d) {
		chunks_deinit(chunks);
		return -ENOMEM;
	}
	d->n_bytes = chunks->total_bytes;
	d->chunks = *chunks;
	*chunks = (struct chunks)CHUNKS_INIT;
	*out = d;
	return 0;
}

struct delivery *delivery_free(struct delivery *d)
{
	if (d)
		chunks_deinit(&d->chunks);
	free(d);
	return NULL;
}

uint64_t delivery_get_bytes(const struct delivery *d)
{
	return d ? d->n_bytes : 0;
}

/* A chunk that was read is of no use any more. */
static void leave_chunk(struct delivery *d)
{
	struct chunk *chunk = &d->chunks.chunks[d->chunk];

	d->chunks.total_bytes -= chunk->used_bytes;
	free(chunk->data);
	*chunk = (struct chunk){NULL, 0, 0};
	d->chunk++;
	d->at = 0;
}

ssize_t delivery_read(struct delivery *d, uint8_t *to, size_t n)
{
	size_t done = 0;

	while (done < n && d->chunk < d->chunks.n_chunks) {
		const struct chunk *chunk = &d->chunks.chunks[d->chunk];
		size_t left = chunk->used_bytes - d->at;
		size_t part = left < n - done ? left : n - done;

		memcpy(to + done, chunk->data + d->at, part);
		done += part;
		d->at += part;
		if (d->at == chunk->used_bytes)
			leave_chunk(d);
	}
	return (ssize_t)done;
}

int delivery_write(struct delivery *d, struct run_dir *dir, struct diag *diag)
{
	_cleanup_free_ uint8_t *piece = malloc(PIECE_BYTES);
	ssize_t n = piece ? delivery_read(d, piece, PIECE_BYTES) : -ENOMEM;
	int r = 0;

	while (n > 0 && !r) {
		r = run_dir_write(dir, piece, (size_t)n, diag);
		n = delivery_read(d, piece, PIECE_BYTES);
	}
	if (r || n >= 0)
		return r;
	return diag_set(diag, (int)n, "cannot read the trace back: %s", errno_words((int)n));
}

/* Of a chunk that was read in part only the rest goes. */
static void drop_read_part(struct delivery *d)
{
	struct chunk *chunk = &d->chunks.chunks[d->chunk];

	memmove(chunk->data, chunk->data + d->at, chunk->used_bytes - d->at);
	chunk->used_bytes -= d->at;
	d->chunks.total_bytes -= d->at;
	d->at = 0;
}

void delivery_take_chunks(struct delivery *d, struct chunks *to)
{
	if (d->at)
		drop_read_part(d);
	chunks_take(to, &d->chunks);
	d->chunk = 0;
}
