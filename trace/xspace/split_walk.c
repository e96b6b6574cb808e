/* SPDX-License-Identifier: Apache-2.0 */
/* Walks; see split_walk.h. */
#include "trace/xspace/split_walk.h"

#include "trace/saturate.h"
#include "trace/xspace/pbwire.h"
#include "trace/xspace/split.h"

#define SPACE_PLANES 1
#define PLANE_LINES 3
#define LINE_TIMESTAMP 3
#define LINE_EVENTS 4
#define EVENT_OFFSET 2

struct walk {
	const struct split *split;
	const struct split_visitor *visitor;
	int64_t line_ns;
};

/* What is inside of a message: |read| gets each field, and where it began. */
static int walk_fields(struct walk *w, struct pb_reader r,
	int (*read)(struct walk *, const struct pb_field *, const uint8_t *, size_t))
{
	struct pb_field f = {0};
	const uint8_t *start = r.p;
	int rc;

	while ((rc = pb_next(&r, &f)) > 0) {
		rc = read(w, &f, start, (size_t)(r.p - start));
		if (rc)
			return rc;
		start = r.p;
	}
	return rc;
}

static int leave(const struct walk *w, const uint8_t *p, size_t n)
{
	int rc = w->visitor->other(p, n, w->visitor->context);

	return rc ? rc : w->split->pass(p + n, w->split->context);
}

/* Lines. */

static int64_t find_offset_ns(const struct pb_field *event)
{
	struct pb_reader r = pb_enter(event);
	struct pb_field f = {0};

	while (pb_next(&r, &f) > 0)
		if (f.tag == PB_TAG(EVENT_OFFSET, PB_VARINT))
			return (int64_t)f.value / 1000;
	return 0;
}

static int read_line_field(struct walk *w, const struct pb_field *f, const uint8_t *p, size_t n)
{
	int64_t time_ns;
	int rc;

	if (f->tag != PB_TAG(LINE_EVENTS, PB_LEN))
		return leave(w, p, n);
	time_ns = add_saturated(w->line_ns, find_offset_ns(f));
	rc = w->visitor->event(time_ns, p, n, w->visitor->context);
	return rc ? rc : w->split->pass(p + n, w->split->context);
}

/* It may stand behind the events. */
static int find_line_time(struct walk *w, const struct pb_field *line)
{
	struct pb_reader r = pb_enter(line);
	struct pb_field f = {0};
	int rc;

	w->line_ns = 0;
	while ((rc = pb_next(&r, &f)) > 0) {
		if (f.tag == PB_TAG(LINE_TIMESTAMP, PB_VARINT)) {
			w->line_ns = (int64_t)f.value;
			return 0;
		}
		rc = w->split->pass(r.p, w->split->context);
		if (rc)
			return rc;
	}
	return rc;
}

static int read_line(struct walk *w, const struct pb_field *line)
{
	return walk_fields(w, pb_enter(line), read_line_field);
}

/* Planes. */

static int enter(struct walk *w, uint32_t number, const struct pb_field *message,
	int (*read)(struct walk *, const struct pb_field *))
{
	const struct split_visitor *v = w->visitor;
	int rc = v->begin(number, message, w->line_ns, v->context);

	if (rc == 0)
		rc = read(w, message);
	return rc ? rc : v->end(v->context);
}

static int read_plane_field(struct walk *w, const struct pb_field *f, const uint8_t *p, size_t n)
{
	int rc;

	if (f->tag != PB_TAG(PLANE_LINES, PB_LEN))
		return leave(w, p, n);
	rc = find_line_time(w, f);
	return rc ? rc : enter(w, PLANE_LINES, f, read_line);
}

static int read_plane(struct walk *w, const struct pb_field *plane)
{
	return walk_fields(w, pb_enter(plane), read_plane_field);
}

static int read_space_field(struct walk *w, const struct pb_field *f, const uint8_t *p, size_t n)
{
	w->line_ns = 0;
	if (f->tag == PB_TAG(SPACE_PLANES, PB_LEN))
		return enter(w, SPACE_PLANES, f, read_plane);
	return leave(w, p, n);
}

int split_walk(const struct split *s, const struct split_visitor *v)
{
	struct walk w = {.split = s, .visitor = v};

	return walk_fields(&w, pb_reader(s->data, s->n_bytes), read_space_field);
}
