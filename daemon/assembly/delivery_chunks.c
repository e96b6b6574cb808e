/* SPDX-License-Identifier: Apache-2.0 */
/* A trace as chunks, which lend what lies in files; see delivery.h. */
#include "daemon/assembly/delivery.h"

#include <errno.h>
#include <stdlib.h>

#include "base/chunks.h"
#include "daemon/assembly/delivery_parts.h"
#include "daemon/assembly/spool.h"

static void release(void *spool)
{
	spool_release(spool);
}

static void lend_piece(
	struct delivery *d, const struct piece *piece, const uint8_t *map, struct chunks *to)
{
	chunks_lend(to, piece->bytes ? piece->bytes : map + piece->offset, (size_t)piece->n_bytes,
		release, spool_hold(d->spool));
}

static void lend_track(
	struct delivery *d, const struct track *track, const uint8_t *map, struct chunks *to)
{
	struct merge merge;
	struct piece piece;
	int r;

	merge_init(&merge, track, d->spool);
	while ((r = merge_next(&merge, &piece)) > 0)
		lend_piece(d, &piece, map, to);
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
	const uint8_t *map = spool_map(d->spool);
	uint64_t n_own = d->chunks.chunks.total_bytes;

	if (!map)
		to->error = -ENOMEM;
	for (size_t i = 0; i < d->n_gaps && !to->error; i++) {
		copy_to(d, d->gaps[i].at, to);
		if (d->gaps[i].track)
			lend_track(d, d->gaps[i].track, map, to);
		else
			lend_piece(d, &d->gaps[i].piece, map, to);
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
