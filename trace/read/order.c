/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts the places of a line's events. A place has only the start and the offset, to be small:
 * where starts are equal, the duration is read again from the file.
 */
#include "trace/read/order.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/read/cursor.h"
#include "trace/read/event.h"

struct line_order {
	const struct archive_plane *plane;
	const struct archive_line *line;
	struct archive_stats stats; /* not used, but event_read() needs room for it */
};

static int read_event_at(struct line_order *o, uint64_t offset, struct archive_event *out)
{
	struct pb_reader reader = pb_reader(o->line->data + offset, o->line->n_bytes - offset);
	struct wire_fault fault;
	struct pb_field f;

	o->stats.n = 0;
	if (pb_next(&reader, &f) <= 0)
		return -EBADMSG;
	return event_read(o->plane, o->line->base_ns, &f, out, &o->stats, &fault);
}

/* --- radix sort by start, in place --------------------------------------------------------- */

#define FEW_PLACES 32 /* insertion sort is faster up to this many */

static uint64_t place_get_key(const struct cursor_place *place)
{
	return (uint64_t)place->start_ns ^ UINT64_C(1) << 63;
}

static void sort_few_places(struct cursor_place *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct cursor_place place = v[i];
		size_t k = i;

		for (; k && place_get_key(&v[k - 1]) > place_get_key(&place); k--)
			v[k] = v[k - 1];
		v[k] = place;
	}
}

/* Moves each place to the part of its byte; |next| has the start of each part. */
static void distribute_places(
	struct cursor_place *v, unsigned int shift, size_t next[256], const size_t end[256])
{
	for (unsigned int byte = 0; byte < 256; byte++) {
		while (next[byte] < end[byte]) {
			struct cursor_place place = v[next[byte]];
			unsigned int to = place_get_key(&place) >> shift & 255;

			v[next[byte]] = v[next[to]];
			v[next[to]++] = place;
		}
	}
}

/*
 * Sorts by the byte at |shift|, then each part by the byte below. This needs no memory, however
 * many places there are.
 */
static void sort_places(struct cursor_place *v, size_t n, unsigned int shift)
{
	size_t next[256] = {0};
	size_t end[256];
	size_t at = 0;

	if (n <= FEW_PLACES) {
		sort_few_places(v, n);
		return;
	}
	for (size_t i = 0; i < n; i++)
		next[place_get_key(&v[i]) >> shift & 255]++;
	for (unsigned int byte = 0; byte < 256; byte++) {
		size_t n_of_byte = next[byte];

		next[byte] = at;
		at += n_of_byte;
		end[byte] = at;
	}
	distribute_places(v, shift, next, end);
	for (unsigned int byte = 0; shift && byte < 256; byte++) {
		size_t first = byte ? end[byte - 1] : 0;

		sort_places(v + first, end[byte] - first, shift - 8);
	}
}

/* --- events of equal start ----------------------------------------------------------------- */

struct twin {
	int64_t duration_ns;
	uint64_t offset;
};

/* Events of equal times stay in the file's order, so that the sort is stable. */
static int compare_twins(const void *left, const void *right)
{
	const struct twin *a = left;
	const struct twin *b = right;

	if (a->duration_ns != b->duration_ns)
		return a->duration_ns > b->duration_ns ? -1 : 1;
	return a->offset < b->offset ? -1 : 1;
}

static int sort_twins(struct line_order *o, struct cursor_place *v, size_t n)
{
	struct twin *twins = calloc(n, sizeof *twins);
	struct archive_event e;

	if (!twins)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		twins[i].offset = v[i].offset;
		twins[i].duration_ns = read_event_at(o, v[i].offset, &e) ? 0 : e.duration_ns;
	}
	qsort(twins, n, sizeof *twins, compare_twins);
	for (size_t i = 0; i < n; i++)
		v[i].offset = twins[i].offset;
	free(twins);
	return 0;
}

static int sort_all_twins(struct line_order *o, struct cursor_place *v, size_t n)
{
	int r = 0;
	size_t end;

	for (size_t i = 0; i < n && r == 0; i = end) {
		for (end = i + 1; end < n && v[end].start_ns == v[i].start_ns;)
			end++;
		if (end - i > 1)
			r = sort_twins(o, &v[i], end - i);
	}
	return r;
}

/* --- the line ------------------------------------------------------------------------------ */

static int collect_places(struct line_order *o, struct cursor_place *places, size_t *n)
{
	struct pb_reader reader = pb_reader(o->line->data, o->line->n_bytes);
	const uint8_t *start = reader.p;
	struct archive_event e;
	struct wire_fault fault;
	struct pb_field f;
	int r = 0;

	*n = 0;
	for (; r == 0 && *n < o->line->n_events && pb_next(&reader, &f) > 0; start = reader.p) {
		if (f.tag != PB_TAG(4, PB_LEN))
			continue;
		o->stats.n = 0;
		r = event_read(o->plane, o->line->base_ns, &f, &e, &o->stats, &fault);
		if (r == 0 && !e.is_aggregated)
			places[(*n)++] = (struct cursor_place){
				e.start_ns, (uint64_t)(start - o->line->data)};
	}
	return r;
}

int order_make(const struct archive_plane *plane, const struct archive_line *line,
	struct cursor_place **out, size_t *n)
{
	struct line_order o = {.plane = plane, .line = line};
	struct cursor_place *places = calloc(line->n_events, sizeof *places);
	int r = places ? collect_places(&o, places, n) : -ENOMEM;

	if (r == 0) {
		sort_places(places, *n, 56);
		r = sort_all_twins(&o, places, *n);
	}
	free(o.stats.v);
	if (r) {
		free(places);
		return r;
	}
	*out = places;
	return 0;
}
