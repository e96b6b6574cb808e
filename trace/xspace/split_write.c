/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the parts; see split.h. All are written in one walk. How long a plane or a line is in each part is known at its end:
 * its length has a fixed width, and is written over then.
 */
#include "trace/xspace/split.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "base/file_io.h"
#include "trace/model/space.h"
#include "trace/xspace/pbwire.h"
#include "trace/xspace/split_walk.h"
#include "trace/xspace/xspace.h"

#define BUFFER_BYTES 32768
#define MAX_DEPTH 2 /* a line in a plane */

struct part {
	int fd;
	uint64_t at_bytes; /* in the file, of what is in the buffer */
	size_t n_buffered;
	uint64_t lengths_at[MAX_DEPTH]; /* where the lengths of what has begun are */
	uint8_t buffer[BUFFER_BYTES];
};

struct writer {
	const struct split *split;
	struct part *parts;
	size_t depth;
};

static int flush(struct part *part)
{
	int r = file_write(part->fd, part->buffer, part->n_buffered);

	part->at_bytes += part->n_buffered;
	part->n_buffered = 0;
	return r;
}

static int append(struct part *part, const uint8_t *p, size_t n)
{
	int r = 0;

	if (n > BUFFER_BYTES - part->n_buffered)
		r = flush(part);
	if (r == 0 && n > BUFFER_BYTES) {
		part->at_bytes += n;
		return file_write(part->fd, p, n);
	}
	memcpy(part->buffer + part->n_buffered, p, n);
	part->n_buffered += n;
	return r;
}

static uint64_t get_end(const struct part *part)
{
	return part->at_bytes + part->n_buffered;
}

static int begin_in(struct part *part, uint32_t number, size_t depth)
{
	uint8_t head[PB_VARINT_MAX_BYTES + PB_PADDED_BYTES];
	uint8_t *p = pb_put_varint(head, PB_TAG(number, PB_LEN));

	part->lengths_at[depth] = get_end(part) + (uint64_t)(p - head);
	pb_put_padded(p, 0);
	return append(part, head, (size_t)(p - head) + PB_PADDED_BYTES);
}

static int end_in(struct part *part, size_t depth)
{
	uint64_t at = part->lengths_at[depth];
	uint8_t length[PB_PADDED_BYTES];
	int r;

	pb_put_padded(length, get_end(part) - at - PB_PADDED_BYTES);
	if (at >= part->at_bytes) {
		memcpy(part->buffer + (at - part->at_bytes), length, sizeof length);
		return 0;
	}
	r = flush(part);
	return r ? r : file_write_at(part->fd, length, sizeof length, at);
}

/* What the walk comes to. */

static int begin(uint32_t number, const struct pb_field *message, int64_t line_ns, void *context)
{
	struct writer *w = context;
	int r = 0;

	(void)message, (void)line_ns;
	for (size_t i = 0; i < w->split->n_parts && r == 0; i++)
		r = begin_in(&w->parts[i], number, w->depth);
	w->depth++;
	return r;
}

static int end(void *context)
{
	struct writer *w = context;
	int r = 0;

	w->depth--;
	for (size_t i = 0; i < w->split->n_parts && r == 0; i++)
		r = end_in(&w->parts[i], w->depth);
	return r;
}

static int copy_event(int64_t time_ns, const uint8_t *p, size_t n, void *context)
{
	struct writer *w = context;

	return append(&w->parts[split_find_part(w->split, time_ns)], p, n);
}

static int copy_other(const uint8_t *p, size_t n, void *context)
{
	struct writer *w = context;
	int r = 0;

	for (size_t i = 0; i < w->split->n_parts && r == 0; i++)
		r = append(&w->parts[i], p, n);
	return r;
}

/*
 * Appends the mark of the part. It is a whole space: behind another one it adds one more plane to
 * it.
 */
static int append_mark(const struct split *s, struct part *part, size_t i)
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
		r = append(part, mark.chunks[k].data, mark.chunks[k].used_bytes);
	chunks_deinit(&mark);
	return r;
}

int split_write(const struct split *s, const int *fds)
{
	struct writer w = {.split = s, .parts = calloc(s->n_parts, sizeof *w.parts)};
	const struct split_visitor v = {begin, end, copy_event, copy_other, &w};
	int r;

	if (!w.parts)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_parts; i++)
		w.parts[i].fd = fds[i];
	r = split_walk(s, &v);
	for (size_t i = 0; i < s->n_parts && r == 0; i++) {
		r = append_mark(s, &w.parts[i], i);
		if (r == 0)
			r = flush(&w.parts[i]);
	}
	free(w.parts);
	return r;
}
