/* SPDX-License-Identifier: Apache-2.0 */
/* A trace on its way out; see delivery.h. */
#include "daemon/pipeline/assembly/delivery.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "daemon/pipeline/assembly/spool.h"
#include "daemon/pipeline/assembly/track.h"
#include "trace/run_dir.h"
#include "trace/xspace/graft.h"
#include "trace/xspace/xspace.h"

#define PIECE_BYTES ((size_t)256 << 10)
/* Below this size a copy is cheaper. */
#define MIN_LENT_BYTES ((size_t)64 << 10)

/* A place between the chunks' bytes where a track, or a piece of the spool, belongs. */
struct delivery_gap {
	uint64_t at; /* bytes of the chunks before it */
	const struct track *track; /* NULL: |piece| is the content */
	struct track_piece piece;
};

struct delivery {
	uint64_t n_bytes;
	struct chunk_reader chunks;
	struct spool *spool; /* NULL: the chunks have everything */
	struct delivery_gap *gaps;
	size_t n_gaps;
	size_t gap; /* index of the next gap, or of the one whose track is being read */
	bool is_reading_track;
	struct track_reader reader;
	struct track_piece piece; /* the rest of the present piece */
	struct delivery *next; /* follows behind this one */
	int error;
};

/* --- life --------------------------------------------------------------------------------- */

int delivery_new_from_chunks(struct chunks *chunks, struct delivery **out)
{
	struct delivery *d = chunks->error ? NULL : calloc(1, sizeof *d);

	if (!d) {
		chunks_deinit(chunks);
		return -ENOMEM;
	}
	d->n_bytes = chunks->total_bytes;
	chunk_reader_init(&d->chunks, chunks);
	*out = d;
	return 0;
}

/* Makes a delivery with |n| gaps, which the caller fills in. */
static int delivery_new_with_gaps(
	struct chunks *chunks, size_t n, struct spool *spool, struct delivery **out)
{
	struct delivery_gap *gaps = calloc(n + 1, sizeof *gaps);
	int r = delivery_new_from_chunks(chunks, out);

	if (r || !gaps) {
		if (!r)
			*out = delivery_free(*out);
		free(gaps);
		return -ENOMEM;
	}
	(*out)->gaps = gaps;
	(*out)->n_gaps = n;
	(*out)->spool = spool_hold(spool);
	return 0;
}

int delivery_new_from_spool(struct chunks *chunks, const struct xspace_gaps *gaps,
	struct spool *spool, struct delivery **out)
{
	int r = delivery_new_with_gaps(chunks, gaps->n, spool, out);

	if (r)
		return r;
	for (size_t i = 0; i < gaps->n; i++) {
		(*out)->gaps[i].at = gaps->v[i].at;
		(*out)->gaps[i].track = gaps->v[i].line->store;
	}
	(*out)->n_bytes += gaps->n_bytes;
	return 0;
}

int delivery_new_from_graft(struct graft *graft, struct spool *spool, struct delivery **out)
{
	int r = delivery_new_with_gaps(&graft->frame, graft->n_ranges, spool, out);

	if (r)
		return r;
	for (size_t i = 0; i < graft->n_ranges; i++) {
		const struct graft_range *range = &graft->ranges[i];

		(*out)->gaps[i].at = range->at;
		(*out)->gaps[i].piece = (struct track_piece){NULL, range->offset, range->n_bytes};
	}
	(*out)->n_bytes = graft->total_bytes;
	return 0;
}

int delivery_new_from_file(struct spool *spool, struct delivery **out)
{
	struct chunks none = CHUNKS_INIT;
	uint64_t n_bytes = spool_get_bytes(spool);
	int r = delivery_new_with_gaps(&none, 1, spool, out);

	if (r)
		return r;
	(*out)->gaps[0].piece = (struct track_piece){NULL, 0, n_bytes};
	(*out)->n_bytes = n_bytes;
	return 0;
}

void delivery_append(struct delivery *d, struct delivery *next)
{
	d->n_bytes += next->n_bytes;
	while (d->next)
		d = d->next;
	d->next = next;
}

struct delivery *delivery_free(struct delivery *d)
{
	if (d) {
		chunk_reader_deinit(&d->chunks);
		delivery_free(d->next);
		track_reader_deinit(&d->reader);
		free(d->gaps);
		spool_release(d->spool);
	}
	free(d);
	return NULL;
}

uint64_t delivery_get_bytes(const struct delivery *d)
{
	return d ? d->n_bytes : 0;
}

/* --- reading ------------------------------------------------------------------------------- */

static ssize_t read_piece(struct delivery *d, uint8_t *to, size_t n)
{
	struct track_piece *piece = &d->piece;
	size_t part = piece->n_bytes < n ? (size_t)piece->n_bytes : n;
	int r = 0;

	if (piece->bytes) {
		memcpy(to, piece->bytes, part);
		piece->bytes += part;
	} else {
		r = spool_read(d->spool, piece->offset, to, part);
		piece->offset += part;
	}
	piece->n_bytes -= part;
	return r ? r : (ssize_t)part;
}

/* Gets the next piece of the present track, or leaves a track that ends. 0 or a negative errno. */
static int read_track_piece(struct delivery *d)
{
	int r = track_reader_next(&d->reader, &d->piece);

	if (r > 0)
		return 0;
	track_reader_deinit(&d->reader);
	d->is_reading_track = false;
	d->gap++;
	return r;
}

static bool delivery_is_at_gap(const struct delivery *d)
{
	return d->gap < d->n_gaps && d->chunks.n_read == d->gaps[d->gap].at;
}

static void begin_gap(struct delivery *d)
{
	const struct delivery_gap *gap = &d->gaps[d->gap];

	if (!gap->track) {
		d->piece = gap->piece;
		d->gap++;
		return;
	}
	track_reader_init(&d->reader, gap->track, d->spool);
	d->is_reading_track = true;
}

/* Reads bytes of the chunks before the next gap, or the end. */
static size_t read_to_gap(struct delivery *d, uint8_t *to, size_t n)
{
	uint64_t left = d->gap < d->n_gaps ? d->gaps[d->gap].at - d->chunks.n_read : UINT64_MAX;

	return chunk_reader_read(&d->chunks, to, left < n ? (size_t)left : n);
}

/* Reads some bytes. 0: this step had none. A negative errno: the disk failed. */
static ssize_t read_step(struct delivery *d, uint8_t *to, size_t n)
{
	if (d->piece.n_bytes)
		return read_piece(d, to, n);
	if (d->is_reading_track)
		return read_track_piece(d);
	if (delivery_is_at_gap(d)) {
		begin_gap(d);
		return 0;
	}
	return (ssize_t)read_to_gap(d, to, n);
}

/* Fills d->piece if a piece of a gap comes next. */
static void find_next_piece(struct delivery *d)
{
	while (!d->piece.n_bytes && (d->is_reading_track || delivery_is_at_gap(d)) && !d->error) {
		ssize_t r = read_step(d, NULL, 0);

		if (r < 0)
			d->error = (int)r;
	}
}

static bool delivery_is_at_end(const struct delivery *d)
{
	return !d->piece.n_bytes && !d->is_reading_track && d->gap == d->n_gaps &&
	       chunk_reader_is_at_end(&d->chunks);
}

ssize_t delivery_read(struct delivery *d, uint8_t *to, size_t n)
{
	size_t done = 0;

	while (done < n && !d->error && !delivery_is_at_end(d)) {
		ssize_t r = read_step(d, to + done, n - done);

		if (r < 0)
			d->error = (int)r;
		else
			done += (size_t)r;
	}
	if (done || d->error || !d->next)
		return done ? (ssize_t)done : d->error;
	return delivery_read(d->next, to, n);
}

int delivery_read_all(struct delivery *d, uint8_t *to, size_t n)
{
	while (n) {
		ssize_t part = delivery_read(d, to, n);

		if (part <= 0)
			return part ? (int)part : -EIO;
		to += part;
		n -= (size_t)part;
	}
	return 0;
}

int delivery_load(struct delivery *d, uint8_t **bytes, size_t *n_bytes)
{
	int r;

	*n_bytes = (size_t)delivery_get_bytes(d);
	*bytes = malloc(*n_bytes + 1);
	r = *bytes ? delivery_read_all(d, *bytes, *n_bytes) : -ENOMEM;
	if (r) {
		free(*bytes);
		*bytes = NULL;
	}
	return r;
}

/* True when nothing was read yet and the first part is a spool's whole file. */
static bool begins_with_file(const struct delivery *d)
{
	return d->spool && !spool_is_memory(d->spool) && d->n_gaps == 1 && d->gap == 0 &&
	       !d->gaps[0].track && !d->gaps[0].piece.offset &&
	       d->gaps[0].piece.n_bytes == spool_get_bytes(d->spool) &&
	       chunk_reader_is_at_end(&d->chunks);
}

int delivery_write(struct delivery *d, struct run_dir *dir, struct diag *diag)
{
	_cleanup_free_ uint8_t *piece = malloc(PIECE_BYTES);
	ssize_t n;
	int r = 0;

	/* If the link fails, as on another file system, the bytes are copied. */
	if (begins_with_file(d) && run_dir_link(dir, spool_get_fd(d->spool)) == 0)
		d->gap = 1;
	n = piece ? delivery_read(d, piece, PIECE_BYTES) : -ENOMEM;
	while (n > 0 && !r) {
		r = run_dir_write(dir, piece, (size_t)n, diag);
		n = delivery_read(d, piece, PIECE_BYTES);
	}
	if (r || n >= 0)
		return r;
	return diag_set(diag, (int)n, "cannot read the trace back: %s", errno_words((int)n));
}

/* --- without a copy ----------------------------------------------------------------------- */

static void release_spool(void *spool)
{
	spool_release(spool);
}

static void lend_piece(struct delivery *d, const struct track_piece *piece, struct chunks *to)
{
	chunks_lend(to, piece->bytes ? piece->bytes : spool_find(d->spool, piece->offset),
		(size_t)piece->n_bytes, release_spool, spool_hold(d->spool));
}

size_t delivery_lend(struct delivery *d, size_t n, struct chunks *to)
{
	struct track_piece part;

	if (!d->spool || !spool_is_memory(d->spool))
		return 0;
	find_next_piece(d);
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
	struct track_reader reader;
	struct track_piece piece;
	int r;

	track_reader_init(&reader, track, d->spool);
	while ((r = track_reader_next(&reader, &piece)) > 0)
		lend_piece(d, &piece, to);
	track_reader_deinit(&reader);
	if (r)
		to->error = r;
}

/* Appends a copy of the chunks' bytes up to |end|. */
static void append_copy(struct delivery *d, uint64_t end, struct chunks *to)
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
		append_copy(d, d->gaps[i].at, to);
		if (d->gaps[i].track)
			lend_track(d, d->gaps[i].track, to);
		else
			lend_piece(d, &d->gaps[i].piece, to);
	}
	if (!to->error)
		append_copy(d, n_own, to);
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
