/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grafts; see graft.h. Events are not looked at as long as the child began later: its lines are told how much later. A
 * line that would begin before the other trace is written anew (graft_line.h), for a time below 0 is none.
 */
#include "trace/xspace/graft.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "trace/saturate.h"
#include "trace/xspace/graft_line.h"
#include "trace/xspace/graft_plane.h"
#include "trace/xspace/pbwire.h"
#include "trace/xspace/split.h"
#include "trace/xspace/split_walk.h"

/* Of one process; its lines are told apart by plane. */
#define PLANES_PER_PROCESS 4096
/* Less is copied. */
#define MIN_RANGE_BYTES 4096

#define SPACE_PLANES 1
#define SPACE_HOSTNAMES PB_TAG(4, PB_LEN)
#define PLANE_ID PB_TAG(1, PB_VARINT)
#define PLANE_NAME PB_TAG(2, PB_LEN)
#define PLANE_LINES 3
#define LINE_TIMESTAMP PB_TAG(3, PB_VARINT)

/* A message whose length is filled in at its end. */
struct open_message {
	uint8_t *length;
	uint64_t start_bytes;
};

struct grafting {
	struct graft *g;
	const uint8_t *raw; /* taken over as it is, and not yet put anywhere */
	size_t n_raw;
	struct open_message open[2]; /* a plane, and a line in it */
	size_t depth;
	int64_t n_planes;
	int keeps_name; /* the plane that is open */
	struct graft_line line;
};

/* What is kept. */

static int add_range(struct graft *g, uint64_t offset, uint64_t n_bytes)
{
	if (grow(&g->ranges, &g->n_ranges_allocated, g->n_ranges + 1))
		return -ENOMEM;
	g->ranges[g->n_ranges++] = (struct graft_range){g->frame.total_bytes, offset, n_bytes};
	g->total_bytes += n_bytes;
	return 0;
}

static int flush_raw(struct grafting *gr)
{
	struct graft *g = gr->g;
	size_t n = gr->n_raw;

	gr->n_raw = 0;
	if (n >= MIN_RANGE_BYTES)
		return add_range(g, (uint64_t)(gr->raw - g->data), n);
	chunks_append(&g->frame, gr->raw, n);
	g->total_bytes += n;
	return g->frame.error;
}

static int keep_raw(struct grafting *gr, const uint8_t *p, size_t n)
{
	int r = 0;

	if (gr->n_raw && gr->raw + gr->n_raw != p)
		r = flush_raw(gr);
	if (!gr->n_raw)
		gr->raw = p;
	gr->n_raw += n;
	return r;
}

/* Room for so many bytes of the frame, to be followed by commit(). */
static uint8_t *reserve(struct grafting *gr, size_t n)
{
	return flush_raw(gr) ? NULL : chunks_reserve(&gr->g->frame, n);
}

static void commit(struct grafting *gr, size_t n)
{
	chunks_commit(&gr->g->frame, n);
	gr->g->total_bytes += n;
}

static int open_message(struct grafting *gr, uint32_t number)
{
	uint8_t *p = reserve(gr, 1 + PB_PADDED_BYTES);

	if (!p)
		return -ENOMEM;
	*p = (uint8_t)PB_TAG(number, PB_LEN);
	commit(gr, 1 + PB_PADDED_BYTES);
	gr->open[gr->depth++] = (struct open_message){p + 1, gr->g->total_bytes};
	return 0;
}

static int put_number(struct grafting *gr, uint32_t tag, uint64_t value)
{
	uint8_t *p = reserve(gr, 2 * PB_VARINT_MAX_BYTES);

	if (!p)
		return -ENOMEM;
	commit(gr, (size_t)(pb_put_uint(p, tag >> 3, value) - p));
	return 0;
}

static int put_name(struct grafting *gr, uint32_t tag, const char *text)
{
	size_t n = strlen(text);
	uint8_t *p = reserve(gr, 2 * PB_VARINT_MAX_BYTES + n);
	uint8_t *end;

	if (!p)
		return -ENOMEM;
	end = pb_put_varint(pb_put_varint(p, tag), n);
	memcpy(end, text, n);
	commit(gr, (size_t)(end - p) + n);
	return 0;
}

/* Events of a line that is written anew. */
static int store(struct chunks *events, void *context)
{
	struct grafting *gr = context;
	struct graft *g = gr->g;
	uint64_t offset;
	int r = flush_raw(gr);

	if (!r)
		r = g->store(events, &offset, g->context);
	return r ? r : add_range(g, offset, events->total_bytes);
}

/* What the walk comes to. */

static int put_pid(struct grafting *gr, const struct pb_field *plane)
{
	uint8_t *p = reserve(gr, GRAFT_PID_BYTES);

	if (!p)
		return -ENOMEM;
	commit(gr, graft_plane_put_pid(plane, gr->g->pid, p));
	return 0;
}

static int begin_plane(struct grafting *gr, const struct pb_field *plane)
{
	char *name;
	int r;

	gr->keeps_name = gr->g->taken && !graft_plane_is_named(plane, gr->g->taken);
	if (gr->keeps_name) {
		r = open_message(gr, SPACE_PLANES);
		return r ? r : put_pid(gr, plane);
	}
	r = graft_plane_name(plane, gr->g->pid, &name);
	if (!r)
		r = open_message(gr, SPACE_PLANES);
	if (!r)
		r = put_number(
			gr, PLANE_ID, (uint64_t)(gr->g->pid * PLANES_PER_PROCESS + gr->n_planes++));
	if (!r)
		r = put_name(gr, PLANE_NAME, name);
	if (!r)
		r = put_pid(gr, plane);
	free(name);
	return r;
}

static int begin_line(struct grafting *gr, int64_t line_ns)
{
	int64_t start_ns = add_saturated(line_ns, gr->g->shift_ns);
	int r = open_message(gr, PLANE_LINES);

	graft_line_begin(&gr->line, start_ns);
	return r || start_ns <= 0 ? r : put_number(gr, LINE_TIMESTAMP, (uint64_t)start_ns);
}

static int begin(uint32_t number, const struct pb_field *message, int64_t line_ns, void *context)
{
	return number == SPACE_PLANES && !((struct grafting *)context)->depth
		       ? begin_plane(context, message)
		       : begin_line(context, line_ns);
}

static int end(void *context)
{
	struct grafting *gr = context;
	const struct open_message *m = &gr->open[gr->depth - 1];
	int r = graft_line_end(&gr->line);

	if (!r)
		r = flush_raw(gr);
	pb_put_padded(m->length, gr->g->total_bytes - m->start_bytes);
	gr->depth--;
	return r;
}

static int take_event(int64_t time_ns, const uint8_t *p, size_t n, void *context)
{
	struct grafting *gr = context;
	struct pb_reader r = pb_reader(p, n);
	struct pb_field event = {0};

	(void)time_ns;
	if (!gr->line.cut_ps)
		return keep_raw(gr, p, n);
	return pb_next(&r, &event) > 0 ? graft_line_move(&gr->line, &event) : -EBADMSG;
}

/* Whether it is said anew. The machine is the same. */
static int is_replaced(const struct grafting *gr, uint32_t tag)
{
	switch (gr->depth) {
	case 0:
		return tag == SPACE_HOSTNAMES;
	case 1:
		return !gr->keeps_name && (tag == PLANE_ID || tag == PLANE_NAME);
	default:
		return tag == LINE_TIMESTAMP;
	}
}

static int take_other(const uint8_t *p, size_t n, void *context)
{
	struct grafting *gr = context;
	struct pb_reader r = pb_reader(p, n);
	struct pb_field f = {0};

	if (pb_next(&r, &f) <= 0)
		return -EBADMSG;
	return is_replaced(gr, f.tag) ? 0 : keep_raw(gr, p, n);
}

int graft_make(struct graft *g)
{
	struct grafting gr = {.g = g, .line = {.store = store}};
	const struct split whole = {
		.data = g->data, .n_bytes = g->n_bytes, .pass = g->pass, .context = g->context};
	const struct split_visitor v = {begin, end, take_event, take_other, &gr};
	int r;

	gr.line.context = &gr;
	r = split_walk(&whole, &v);
	if (!r)
		r = flush_raw(&gr);
	g->n_left_out = gr.line.n_left_out;
	graft_line_deinit(&gr.line);
	return r;
}

void graft_deinit(struct graft *g)
{
	chunks_deinit(&g->frame);
	free(g->ranges);
	memset(g, 0, sizeof *g);
}
