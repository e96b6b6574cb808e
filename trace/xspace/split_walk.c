/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over the encoded planes, lines and events of an XSpace. */
#include "trace/xspace/split_walk.h"

#include "trace/saturate.h"
#include "trace/xspace/pbwire.h"
#include "trace/xspace/split.h"

#define SPACE_PLANES 1
#define PLANE_LINES 3
#define LINE_TIMESTAMP 3
#define LINE_EVENTS 4
#define EVENT_OFFSET 2

struct space_walk {
	const struct split *split;
	const struct split_visitor *visitor;
	int64_t line_ns;
};

/* Walks over the fields of a message: |read| gets each field, and its bytes. */
static int walk_fields(struct space_walk *w, struct pb_reader reader,
	int (*read)(struct space_walk *, const struct pb_field *, const uint8_t *, size_t))
{
	struct pb_field f = {0};
	const uint8_t *start = reader.p;
	int r;

	while ((r = pb_next(&reader, &f)) > 0) {
		r = read(w, &f, start, (size_t)(reader.p - start));
		if (r)
			return r;
		start = reader.p;
	}
	return r;
}

static int walk_other_field(const struct space_walk *w, const uint8_t *p, size_t n)
{
	int r = w->visitor->other(p, n, w->visitor->context);

	return r ? r : w->split->pass(p + n, w->split->context);
}

/* --- lines --------------------------------------------------------------------------------- */

static int64_t find_offset_ns(const struct pb_field *event)
{
	struct pb_reader reader = pb_enter(event);
	struct pb_field f = {0};

	while (pb_next(&reader, &f) > 0)
		if (f.tag == PB_TAG(EVENT_OFFSET, PB_VARINT))
			return (int64_t)f.value / 1000;
	return 0;
}

static int walk_line_field(
	struct space_walk *w, const struct pb_field *f, const uint8_t *p, size_t n)
{
	int64_t time_ns;
	int r;

	if (f->tag != PB_TAG(LINE_EVENTS, PB_LEN))
		return walk_other_field(w, p, n);
	time_ns = add_saturated(w->line_ns, find_offset_ns(f));
	r = w->visitor->event(time_ns, p, n, w->visitor->context);
	return r ? r : w->split->pass(p + n, w->split->context);
}

/* Finds the line's timestamp, which may stand behind the events. */
static int find_line_time(struct space_walk *w, const struct pb_field *line)
{
	struct pb_reader reader = pb_enter(line);
	struct pb_field f = {0};
	int r;

	w->line_ns = 0;
	while ((r = pb_next(&reader, &f)) > 0) {
		if (f.tag == PB_TAG(LINE_TIMESTAMP, PB_VARINT)) {
			w->line_ns = (int64_t)f.value;
			return 0;
		}
		r = w->split->pass(reader.p, w->split->context);
		if (r)
			return r;
	}
	return r;
}

static int walk_line(struct space_walk *w, const struct pb_field *line)
{
	return walk_fields(w, pb_enter(line), walk_line_field);
}

/* --- planes -------------------------------------------------------------------------------- */

static int walk_message(struct space_walk *w, uint32_t number, const struct pb_field *message,
	int (*read)(struct space_walk *, const struct pb_field *))
{
	const struct split_visitor *v = w->visitor;
	int r = v->begin(number, message, w->line_ns, v->context);

	if (r == 0)
		r = read(w, message);
	return r ? r : v->end(v->context);
}

static int walk_plane_field(
	struct space_walk *w, const struct pb_field *f, const uint8_t *p, size_t n)
{
	int r;

	if (f->tag != PB_TAG(PLANE_LINES, PB_LEN))
		return walk_other_field(w, p, n);
	r = find_line_time(w, f);
	return r ? r : walk_message(w, PLANE_LINES, f, walk_line);
}

static int walk_plane(struct space_walk *w, const struct pb_field *plane)
{
	return walk_fields(w, pb_enter(plane), walk_plane_field);
}

static int walk_space_field(
	struct space_walk *w, const struct pb_field *f, const uint8_t *p, size_t n)
{
	w->line_ns = 0;
	if (f->tag == PB_TAG(SPACE_PLANES, PB_LEN))
		return walk_message(w, SPACE_PLANES, f, walk_plane);
	return walk_other_field(w, p, n);
}

int split_walk(const struct split *s, const struct split_visitor *v)
{
	struct space_walk w = {.split = s, .visitor = v};

	return walk_fields(&w, pb_reader(s->data, s->n_bytes), walk_space_field);
}
