/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order of events; see order.h. Durations are looked up again where starts are equal: two words an event suffice, and
 * those of one start two more.
 */
#include "trace/read/order.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/read/cursor.h"
#include "trace/read/event.h"
#include "trace/xspace/pbwire.h"

struct ordering {
	const struct archive_plane *plane;
	const struct archive_line *line;
	struct archive_stats stats; /* of no interest */
};

static int read_at(struct ordering *o, uint64_t offset, struct archive_event *out)
{
	struct pb_reader r = pb_reader(o->line->data + offset, o->line->n_bytes - offset);
	struct pb_reader bad;
	struct pb_field f;

	o->stats.n = 0;
	if (pb_next(&r, &f) <= 0)
		return -EBADMSG;
	return event_read(o->plane, o->line->base_ns, &f, out, &o->stats, &bad);
}

/* --- by start, in place -------------------------------------------------------------------- */

#define FEW 32

static uint64_t get_key(const struct cursor_place *place)
{
	return (uint64_t)place->start_ns ^ UINT64_C(1) << 63;
}

static void sort_few(struct cursor_place *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct cursor_place place = v[i];
		size_t k = i;

		for (; k && get_key(&v[k - 1]) > get_key(&place); k--)
			v[k] = v[k - 1];
		v[k] = place;
	}
}

/* Moves each place to the part of its byte; |next|: where each part begins. */
static void deal(
	struct cursor_place *v, unsigned int shift, size_t next[256], const size_t end[256])
{
	for (unsigned int byte = 0; byte < 256; byte++) {
		while (next[byte] < end[byte]) {
			struct cursor_place place = v[next[byte]];
			unsigned int to = get_key(&place) >> shift & 255;

			v[next[byte]] = v[next[to]];
			v[next[to]++] = place;
		}
	}
}

/* By the byte at |shift|, then each part by the one below: no room is needed, however many there are. */
static void sort_places(struct cursor_place *v, size_t n, unsigned int shift)
{
	size_t next[256] = {0};
	size_t end[256];
	size_t at = 0;

	if (n <= FEW) {
		sort_few(v, n);
		return;
	}
	for (size_t i = 0; i < n; i++)
		next[get_key(&v[i]) >> shift & 255]++;
	for (unsigned int byte = 0; byte < 256; byte++) {
		size_t n_of_byte = next[byte];

		next[byte] = at;
		at += n_of_byte;
		end[byte] = at;
	}
	deal(v, shift, next, end);
	for (unsigned int byte = 0; shift && byte < 256; byte++) {
		size_t first = byte ? end[byte - 1] : 0;

		sort_places(v + first, end[byte] - first, shift - 8);
	}
}

/* --- those of one start -------------------------------------------------------------------- */

struct twin {
	int64_t duration_ns;
	uint64_t offset;
};

/* What cannot tell them apart is their place, so that the order is stable. */
static int compare_twins(const void *left, const void *right)
{
	const struct twin *a = left;
	const struct twin *b = right;

	if (a->duration_ns != b->duration_ns)
		return a->duration_ns > b->duration_ns ? -1 : 1;
	return a->offset < b->offset ? -1 : 1;
}

static int sort_twins(struct ordering *o, struct cursor_place *v, size_t n)
{
	struct twin *twins = calloc(n, sizeof *twins);
	struct archive_event e;

	if (!twins)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		twins[i].offset = v[i].offset;
		twins[i].duration_ns = read_at(o, v[i].offset, &e) ? 0 : e.duration_ns;
	}
	qsort(twins, n, sizeof *twins, compare_twins);
	for (size_t i = 0; i < n; i++)
		v[i].offset = twins[i].offset;
	free(twins);
	return 0;
}

static int sort_all_twins(struct ordering *o, struct cursor_place *v, size_t n)
{
	int rc = 0;
	size_t end;

	for (size_t i = 0; i < n && rc == 0; i = end) {
		for (end = i + 1; end < n && v[end].start_ns == v[i].start_ns;)
			end++;
		if (end - i > 1)
			rc = sort_twins(o, &v[i], end - i);
	}
	return rc;
}

/* --- the line ------------------------------------------------------------------------------ */

static int collect(struct ordering *o, struct cursor_place *places, size_t *n)
{
	struct pb_reader r = pb_reader(o->line->data, o->line->n_bytes);
	const uint8_t *start = r.p;
	struct archive_event e;
	struct pb_reader bad;
	struct pb_field f;
	int rc = 0;

	*n = 0;
	for (; rc == 0 && *n < o->line->n_events && pb_next(&r, &f) > 0; start = r.p) {
		if (f.tag != PB_TAG(4, PB_LEN))
			continue;
		o->stats.n = 0;
		rc = event_read(o->plane, o->line->base_ns, &f, &e, &o->stats, &bad);
		if (rc == 0 && !e.is_aggregated)
			places[(*n)++] = (struct cursor_place){
				e.start_ns, (uint64_t)(start - o->line->data)};
	}
	return rc;
}

int order_make(const struct archive_plane *plane, const struct archive_line *line,
	struct cursor_place **out, size_t *n)
{
	struct ordering o = {.plane = plane, .line = line};
	struct cursor_place *places = calloc(line->n_events, sizeof *places);
	int rc = places ? collect(&o, places, n) : -ENOMEM;

	if (rc == 0) {
		sort_places(places, *n, 56);
		rc = sort_all_twins(&o, places, *n);
	}
	free(o.stats.v);
	if (rc) {
		free(places);
		return rc;
	}
	*out = places;
	return 0;
}
