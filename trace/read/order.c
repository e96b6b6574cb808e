/* SPDX-License-Identifier: Apache-2.0 */
/* Order of events; see order.h. Durations are looked up again where starts are equal: two words an event suffice. */
#include "trace/read/order.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/pbwire.h"
#include "trace/read/cursor.h"
#include "trace/read/event.h"

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

static int64_t find_duration(struct ordering *o, uint64_t offset)
{
	struct archive_event e;

	return read_at(o, offset, &e) ? 0 : e.duration_ns;
}

/* What cannot tell them apart is their place, so that the order is stable. */
static int compare(const void *left, const void *right, void *context)
{
	const struct cursor_place *a = left;
	const struct cursor_place *b = right;
	int64_t a_ns;
	int64_t b_ns;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	a_ns = find_duration(context, a->offset);
	b_ns = find_duration(context, b->offset);
	if (a_ns != b_ns)
		return a_ns > b_ns ? -1 : 1;
	return a->offset < b->offset ? -1 : 1;
}

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

	if (rc == 0)
		qsort_r(places, *n, sizeof *places, compare, &o);
	free(o.stats.v);
	if (rc) {
		free(places);
		return rc;
	}
	*out = places;
	return 0;
}
