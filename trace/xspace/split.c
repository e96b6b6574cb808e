/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits an XSpace. A plan comes first: up to MAX_SAMPLES events, evenly spaced by bytes and sorted
 * by time, tell where equal parts would begin. A second walk adds up the size of each part; if one
 * is too large, more parts are tried.
 *
 * All parts are written in one walk. The length of a plane or a line in a part is known only when
 * the plane or line ends: its field has a fixed width, and is overwritten then.
 */
#include "trace/xspace/split.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "base/file_io.h"
#include "trace/model/space.h"
#include "trace/saturate.h"
#include "trace/xspace/pbwire.h"
#include "trace/xspace/xspace.h"

#define MAX_SAMPLES 65536
#define HEAD_BYTES (1 + PB_PADDED_BYTES) /* the one-byte tag of a plane or a line, and its length */
#define MAX_TRIES 8
#define BUFFER_BYTES 32768
#define MAX_DEPTH 2 /* a line in a plane */

/* --- the plan ------------------------------------------------------------------------------ */

struct time_sample {
	int64_t time_ns;
	uint64_t n_bytes; /* bytes of events since the sample before */
};

struct survey {
	struct time_sample *samples;
	size_t n_samples;
	uint64_t step_bytes;
	uint64_t pending_bytes;
	uint64_t event_bytes;
	uint64_t fixed_bytes; /* bytes that every part has */
};

static int survey_begin(
	uint32_t number, const struct pb_field *message, int64_t line_ns, void *context)
{
	struct survey *y = context;

	(void)number, (void)message, (void)line_ns;
	y->fixed_bytes += HEAD_BYTES;
	return 0;
}

static int ignore_end(void *context)
{
	(void)context;
	return 0;
}

static int survey_other(const uint8_t *p, size_t n, void *context)
{
	struct survey *y = context;

	(void)p;
	y->fixed_bytes += n;
	return 0;
}

static int survey_event(int64_t time_ns, const uint8_t *p, size_t n, void *context)
{
	struct survey *y = context;

	(void)p;
	y->event_bytes += n;
	y->pending_bytes += n;
	if (y->pending_bytes < y->step_bytes || y->n_samples == MAX_SAMPLES)
		return 0;
	y->samples[y->n_samples++] = (struct time_sample){time_ns, y->pending_bytes};
	y->pending_bytes = 0;
	return 0;
}

static int compare_samples(const void *a, const void *b)
{
	const struct time_sample *x = a, *y = b;

	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static int survey_space(const struct split *s, struct survey *y)
{
	const struct split_visitor v = {survey_begin, ignore_end, survey_event, survey_other, y};
	int r;

	y->step_bytes = s->n_bytes / MAX_SAMPLES + 1;
	y->fixed_bytes = SPLIT_MARK_BYTES;
	r = split_walk(s, &v);
	qsort(y->samples, y->n_samples, sizeof *y->samples, compare_samples);
	return r;
}

/* Chooses the starts of equal parts, as far as the samples tell. */
static void choose_starts(struct split *s, const struct survey *y)
{
	uint64_t n_bytes = 0;
	size_t part = 1;

	for (size_t i = 0; i < y->n_samples && part < s->n_parts; i++) {
		int64_t time_ns = y->samples[i].time_ns;
		int64_t before_ns = part > 1 ? s->starts_ns[part - 1] : y->samples[0].time_ns;

		if (n_bytes >= y->event_bytes / s->n_parts * part && time_ns > before_ns)
			s->starts_ns[part++] = time_ns;
		n_bytes += y->samples[i].n_bytes;
	}
	/* Fewer starts may have been found: no part is without events. */
	s->n_parts = part;
}

/* Returns the index of the part for an event that begins at |time_ns|. */
static size_t split_find_part(const struct split *s, int64_t time_ns)
{
	size_t part = s->n_parts - 1;

	while (part > 0 && time_ns < s->starts_ns[part])
		part--;
	return part;
}

static int ignore_begin(
	uint32_t number, const struct pb_field *message, int64_t line_ns, void *context)
{
	(void)number, (void)message, (void)line_ns, (void)context;
	return 0;
}

static int ignore_other(const uint8_t *p, size_t n, void *context)
{
	(void)p, (void)n, (void)context;
	return 0;
}

static int count_event(int64_t time_ns, const uint8_t *p, size_t n, void *context)
{
	struct split *s = context;

	(void)p;
	s->part_bytes[split_find_part(s, time_ns)] += n;
	return 0;
}

/* Returns 1 when all parts are small enough, 0 when one is too large, or a negative errno. */
static int try_parts(struct split *s, const struct survey *y)
{
	const struct split_visitor v = {ignore_begin, ignore_end, count_event, ignore_other, s};
	int r;

	choose_starts(s, y);
	for (size_t i = 0; i < s->n_parts; i++)
		s->part_bytes[i] = y->fixed_bytes;
	r = split_walk(s, &v);
	for (size_t i = 0; i < s->n_parts && r == 0; i++)
		if (s->part_bytes[i] > s->max_bytes)
			return 0;
	return r < 0 ? r : 1;
}

static int split_fail_large(const struct split *s, struct diag *d, const char *why)
{
	return diag_set(
		d, -EFBIG, "not split into files of %" PRIu64 " bytes: %s", s->max_bytes, why);
}

static int split_fail_walk(int r, struct diag *d)
{
	return diag_set(d, r, "not split: %s", errno_words(r));
}

static int plan_parts(struct split *s, const struct survey *y, struct diag *d)
{
	uint64_t room_bytes;
	uint64_t n;

	if (y->fixed_bytes >= s->max_bytes)
		return split_fail_large(
			s, d, "the names of its events and threads alone have more");
	room_bytes = s->max_bytes - y->fixed_bytes;
	n = y->event_bytes / room_bytes + 1;
	for (int i = 0; i < MAX_TRIES && n <= SPLIT_MAX_PARTS; i++, n += 1 + n / 8) {
		int r;

		s->n_parts = n;
		r = try_parts(s, y);
		if (r)
			return r < 0 ? split_fail_walk(r, d) : 0;
	}
	if (n > SPLIT_MAX_PARTS)
		return split_fail_large(s, d, "there would be more than 256");
	return split_fail_large(s, d, "too many of its events begin at one time");
}

int split_plan(struct split *s, struct diag *d)
{
	struct survey y = {.samples = calloc(MAX_SAMPLES, sizeof *y.samples)};
	int r;

	if (!y.samples)
		return diag_set(d, -ENOMEM, "not split: out of memory");
	r = survey_space(s, &y);
	r = r ? split_fail_walk(r, d) : plan_parts(s, &y, d);
	free(y.samples);
	return r;
}

/* --- the parts ----------------------------------------------------------------------------- */

struct split_part {
	int fd;
	uint64_t at_bytes; /* offset in the file of the buffer's first byte */
	size_t n_buffered;
	uint64_t lengths_at[MAX_DEPTH]; /* offsets of the lengths of the open plane and line */
	uint8_t buffer[BUFFER_BYTES];
};

struct split_writer {
	const struct split *split;
	struct split_part *parts;
	size_t depth;
};

static int part_flush(struct split_part *part)
{
	int r = file_write(part->fd, part->buffer, part->n_buffered);

	part->at_bytes += part->n_buffered;
	part->n_buffered = 0;
	return r;
}

static int part_append(struct split_part *part, const uint8_t *p, size_t n)
{
	int r = 0;

	if (n > BUFFER_BYTES - part->n_buffered)
		r = part_flush(part);
	if (r == 0 && n > BUFFER_BYTES) {
		part->at_bytes += n;
		return file_write(part->fd, p, n);
	}
	memcpy(part->buffer + part->n_buffered, p, n);
	part->n_buffered += n;
	return r;
}

static uint64_t part_get_end(const struct split_part *part)
{
	return part->at_bytes + part->n_buffered;
}

static int part_begin_message(struct split_part *part, uint32_t number, size_t depth)
{
	uint8_t head[PB_VARINT_MAX_BYTES + PB_PADDED_BYTES];
	uint8_t *p = pb_put_varint(head, PB_TAG(number, PB_LEN));

	part->lengths_at[depth] = part_get_end(part) + (uint64_t)(p - head);
	pb_put_padded(p, 0);
	return part_append(part, head, (size_t)(p - head) + PB_PADDED_BYTES);
}

static int part_end_message(struct split_part *part, size_t depth)
{
	uint64_t at = part->lengths_at[depth];
	uint8_t length[PB_PADDED_BYTES];
	int r;

	pb_put_padded(length, part_get_end(part) - at - PB_PADDED_BYTES);
	if (at >= part->at_bytes) {
		memcpy(part->buffer + (at - part->at_bytes), length, sizeof length);
		return 0;
	}
	r = part_flush(part);
	return r ? r : file_write_at(part->fd, length, sizeof length, at);
}

static int writer_begin(
	uint32_t number, const struct pb_field *message, int64_t line_ns, void *context)
{
	struct split_writer *w = context;
	int r = 0;

	(void)message, (void)line_ns;
	for (size_t i = 0; i < w->split->n_parts && r == 0; i++)
		r = part_begin_message(&w->parts[i], number, w->depth);
	w->depth++;
	return r;
}

static int writer_end(void *context)
{
	struct split_writer *w = context;
	int r = 0;

	w->depth--;
	for (size_t i = 0; i < w->split->n_parts && r == 0; i++)
		r = part_end_message(&w->parts[i], w->depth);
	return r;
}

static int writer_event(int64_t time_ns, const uint8_t *p, size_t n, void *context)
{
	struct split_writer *w = context;

	return part_append(&w->parts[split_find_part(w->split, time_ns)], p, n);
}

static int writer_other(const uint8_t *p, size_t n, void *context)
{
	struct split_writer *w = context;
	int r = 0;

	for (size_t i = 0; i < w->split->n_parts && r == 0; i++)
		r = part_append(&w->parts[i], p, n);
	return r;
}

/*
 * Appends the mark of the part. The mark is a whole encoded space: appended to another encoded
 * space, it adds a plane to that space.
 */
static int part_append_mark(const struct split *s, struct split_part *part, size_t i)
{
	_cleanup_(space_freep) struct space *space = NULL;
	struct chunks mark = CHUNKS_INIT;
	struct plane *plane;
	int r = space_new(&space);

	if (r)
		return r;
	plane = space_add_plane(space, (int64_t)i, PLANE_PART);
	if (!plane || plane_set_uint(plane, "id", s->id) ||
		plane_set_int(plane, "number", (int64_t)i + 1) ||
		plane_set_int(plane, "n_parts", (int64_t)s->n_parts))
		return -ENOMEM;
	r = xspace_encode(space, &mark);
	for (size_t k = 0; k < mark.n_chunks && r == 0; k++)
		r = part_append(part, mark.chunks[k].data, mark.chunks[k].used_bytes);
	chunks_deinit(&mark);
	return r;
}

int split_write(const struct split *s, const int *fds)
{
	struct split_writer w = {.split = s, .parts = calloc(s->n_parts, sizeof *w.parts)};
	const struct split_visitor v = {writer_begin, writer_end, writer_event, writer_other, &w};
	int r;

	if (!w.parts)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_parts; i++)
		w.parts[i].fd = fds[i];
	r = split_walk(s, &v);
	for (size_t i = 0; i < s->n_parts && r == 0; i++) {
		r = part_append_mark(s, &w.parts[i], i);
		if (r == 0)
			r = part_flush(&w.parts[i]);
	}
	free(w.parts);
	return r;
}

/* --- walking over an encoded space ------------------------------------------------------------ */

/* Walks over the encoded planes, lines and events of an XSpace. */

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
