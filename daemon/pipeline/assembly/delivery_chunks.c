/* SPDX-License-Identifier: Apache-2.0 */
/* A trace as chunks, which lend what lies in files; see delivery.h. */
#include "daemon/pipeline/assembly/delivery.h"

#include <errno.h>
#include <stdlib.h>

#include "base/chunks.h"
#include "daemon/pipeline/assembly/delivery_parts.h"
#include "daemon/pipeline/assembly/spool.h"

/* Of less a copy costs less. */
#define MIN_LENT_BYTES ((size_t)64 << 10)

static void release(void *spool)
{
	spool_release(spool);
}

static void lend_piece(struct delivery *d, const struct piece *piece, struct chunks *to)
{
	chunks_lend(to, piece->bytes ? piece->bytes : spool_find(d->spool, piece->offset),
		(size_t)piece->n_bytes, release, spool_hold(d->spool));
}

size_t delivery_lend(struct delivery *d, size_t n, struct chunks *to)
{
	struct piece part;

	if (!d->spool || !spool_is_memory(d->spool))
		return 0;
	delivery_look(d);
	part = d->piece;
	if (part.bytes || part.n_bytes < MIN_LENT_BYTES)
		return 0;
	if (part.n_bytes > n)
		part.n_bytes = n;
	lend_piece(d, &part, to);
	d->piece.offset += part.n_bytes;
	d->piece.n_bytes -= part.n_bytes;
	return (size_t)part.n_bytes;
}

static void lend_track(struct delivery *d, const struct track *track, struct chunks *to)
{
	struct merge merge;
	struct piece piece;
	int r;

	merge_init(&merge, track, d->spool);
	while ((r = merge_next(&merge, &piece)) > 0)
		lend_piece(d, &piece, to);
	merge_deinit(&merge);
	if (r)
		to->error = r;
}

/* The bytes of the chunks up to |end|, in a piece of their own. */
static void copy_to(struct delivery *d, uint64_t end, struct chunks *to)
{
	size_t n = (size_t)(end - d->chunks.n_read);
	uint8_t *copy = n ? malloc(n) : NULL;

	if (!n)
		return;
	if (!copy) {
		to->error = -ENOMEM;
		return;
	}
	chunk_reader_read(&d->chunks, copy, n);
	chunks_lend(to, copy, n, free, copy);
}

static void lend_spool(struct delivery *d, struct chunks *to)
{
	uint64_t n_own = d->chunks.chunks.total_bytes;

	if (!spool_map(d->spool))
		to->error = -ENOMEM;
	for (size_t i = 0; i < d->n_gaps && !to->error; i++) {
		copy_to(d, d->gaps[i].at, to);
		if (d->gaps[i].track)
			lend_track(d, d->gaps[i].track, to);
		else
			lend_piece(d, &d->gaps[i].piece, to);
	}
	if (!to->error)
		copy_to(d, n_own, to);
}

void delivery_take_chunks(struct delivery *d, struct chunks *to)
{
	if (d->spool)
		lend_spool(d, to);
	else
		chunk_reader_take_rest(&d->chunks, to);
	if (d->next)
		delivery_take_chunks(d->next, to);
}
