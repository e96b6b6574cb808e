/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a graft: the trace of a process as a part of another trace. If the process began after
 * that trace, its events stay as they are: only the timestamps of its lines change. A line that
 * began before that trace is encoded anew, because XSpace has no times below 0.
 */
#include "trace/xspace/graft.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "trace/saturate.h"
#include "trace/xspace/pbwire.h"
#include "trace/xspace/split.h"

#define PLANES_PER_PROCESS 4096 /* plane ids that each process has for its own */
#define MIN_RANGE_BYTES 4096 /* shorter ranges are copied into the frame */
#define MAX_BATCH_BYTES ((uint64_t)1 << 20)
#define MAX_CUT 65536 /* open events of one line at one moment; proftap never writes more */

#define SPACE_PLANES 1
#define SPACE_HOSTNAMES PB_TAG(4, PB_LEN)
#define PLANE_ID PB_TAG(1, PB_VARINT)
#define PLANE_NAME PB_TAG(2, PB_LEN)
#define PLANE_LINES 3
#define LINE_TIMESTAMP PB_TAG(3, PB_VARINT)
#define LINE_EVENTS PB_TAG(4, PB_LEN)
#define EVENT_OFFSET PB_TAG(2, PB_VARINT)
#define EVENT_DURATION PB_TAG(3, PB_VARINT)
#define EVENT_OCCURRENCES PB_TAG(5, PB_VARINT)
#define EVENT_HEAD_BYTES (4 * PB_VARINT_MAX_BYTES + 4)

/* A message whose length is filled in at its end. */
struct graft_message {
	uint8_t *length;
	uint64_t start_bytes;
};

/* An event that was open when the other trace began. */
struct cut_event {
	uint64_t duration_ps; /* its duration from that moment on */
	struct pb_field event;
};

/* A line that began before the other trace: its events are encoded anew. */
struct cut_line {
	uint64_t cut_ps; /* subtracted from the events' offsets; 0 if the line keeps its bytes */
	struct cut_event *cut;
	size_t n_cut;
	size_t n_cut_allocated;
	struct chunks batch;
};

struct grafting {
	struct graft *g;
	const uint8_t *raw; /* bytes to keep that are not yet in the frame or a range */
	size_t n_raw;
	struct graft_message open[2]; /* a plane, and a line in it */
	size_t depth;
	int64_t n_planes;
	bool keeps_name; /* the open plane keeps its name and id */
	struct cut_line line;
};

/* --- the frame and the ranges -------------------------------------------------------------- */

static int graft_add_range(struct graft *g, uint64_t offset, uint64_t n_bytes)
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
		return graft_add_range(g, (uint64_t)(gr->raw - g->data), n);
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

/* Reserves |n| bytes of the frame; frame_commit() follows. */
static uint8_t *frame_reserve(struct grafting *gr, size_t n)
{
	return flush_raw(gr) ? NULL : chunks_reserve(&gr->g->frame, n);
}

static void frame_commit(struct grafting *gr, size_t n)
{
	chunks_commit(&gr->g->frame, n);
	gr->g->total_bytes += n;
}

static int frame_open_message(struct grafting *gr, uint32_t number)
{
	uint8_t *p = frame_reserve(gr, 1 + PB_PADDED_BYTES);

	if (!p)
		return -ENOMEM;
	*p = (uint8_t)PB_TAG(number, PB_LEN);
	frame_commit(gr, 1 + PB_PADDED_BYTES);
	gr->open[gr->depth++] = (struct graft_message){p + 1, gr->g->total_bytes};
	return 0;
}

static int frame_put_uint(struct grafting *gr, uint32_t tag, uint64_t value)
{
	uint8_t *p = frame_reserve(gr, 2 * PB_VARINT_MAX_BYTES);

	if (!p)
		return -ENOMEM;
	frame_commit(gr, (size_t)(pb_put_uint(p, tag >> 3, value) - p));
	return 0;
}

static int frame_put_text(struct grafting *gr, uint32_t tag, const char *text)
{
	size_t n = strlen(text);
	uint8_t *p = frame_reserve(gr, 2 * PB_VARINT_MAX_BYTES + n);
	uint8_t *end;

	if (!p)
		return -ENOMEM;
	end = pb_put_varint(pb_put_varint(p, tag), n);
	memcpy(end, text, n);
	frame_commit(gr, (size_t)(end - p) + n);
	return 0;
}

/* Appends |events|, which were encoded anew, to the caller's file, and adds a range for them. */
static int store_events(struct grafting *gr, const struct chunks *events)
{
	struct graft *g = gr->g;
	uint64_t offset;
	int r = flush_raw(gr);

	if (!r)
		r = g->store(events, &offset, g->context);
	return r ? r : graft_add_range(g, offset, events->total_bytes);
}

/* --- lines that began before the other trace ----------------------------------------------- */

/* |start_ns| is the time, in the other trace, that the line's offsets count from. */
static void cut_line_begin(struct cut_line *l, int64_t start_ns)
{
	l->cut_ps = 0;
	if (start_ns < 0)
		l->cut_ps = start_ns > -(INT64_MAX / 1000) ? (uint64_t)-start_ns * 1000 : INT64_MAX;
}

static int flush_batch(struct grafting *gr)
{
	struct cut_line *l = &gr->line;
	int r = l->batch.error;

	if (!r && l->batch.total_bytes)
		r = store_events(gr, &l->batch);
	chunks_deinit(&l->batch);
	memset(&l->batch, 0, sizeof l->batch);
	return r;
}

/* Copies the fields of |event| other than its start and its duration. */
static uint8_t *put_other_fields(uint8_t *p, const struct pb_field *event)
{
	struct pb_reader reader = pb_enter(event);
	struct pb_field f = {0};
	const uint8_t *start = reader.p;

	while (pb_next(&reader, &f) > 0) {
		if (f.tag != EVENT_OFFSET && f.tag != EVENT_DURATION) {
			memcpy(p, start, (size_t)(reader.p - start));
			p += reader.p - start;
		}
		start = reader.p;
	}
	return p;
}

/* Reserves room for an event's bytes in the batch; NULL when memory ran out. */
static uint8_t *begin_event(struct grafting *gr, const struct pb_field *event)
{
	uint8_t *p = chunks_reserve(&gr->line.batch, event->n_bytes + EVENT_HEAD_BYTES);

	if (!p)
		return NULL;
	*p = (uint8_t)LINE_EVENTS;
	return p + 2;
}

/* Ends begin_event()'s event, which has its fields between |p| and |end|; flushes a full batch. */
static int end_event(struct grafting *gr, uint8_t *p, uint8_t *end)
{
	struct chunks *batch = &gr->line.batch;

	end = pb_put_length_before(p - 1, end);
	chunks_commit(batch, (size_t)(end - (p - 2)));
	return batch->total_bytes < MAX_BATCH_BYTES ? 0 : flush_batch(gr);
}

/* With |has_duration| a duration of 0 is written, too: an event without one is an instant. */
static int put_event(struct grafting *gr, const struct pb_field *event, uint64_t offset_ps,
	uint64_t duration_ps, bool has_duration)
{
	uint8_t *p = begin_event(gr, event);
	uint8_t *end;

	if (!p)
		return gr->line.batch.error;
	end = put_other_fields(p, event);
	end = pb_put_uint(end, EVENT_OFFSET >> 3, offset_ps);
	if (has_duration)
		end = pb_put_uint(end, EVENT_DURATION >> 3, duration_ps);
	return end_event(gr, p, end);
}

static int keep_event(struct grafting *gr, const struct pb_field *event)
{
	uint8_t *p = begin_event(gr, event);

	return p ? end_event(gr, p, mempcpy(p, event->data, event->n_bytes)) : gr->line.batch.error;
}

/* All cut events begin at 0 now: the longest is the outermost. */
static int compare_cut(const void *left, const void *right)
{
	const struct cut_event *a = left;
	const struct cut_event *b = right;

	if (a->duration_ps != b->duration_ps)
		return a->duration_ps > b->duration_ps ? -1 : 1;
	return (a->event.data > b->event.data) - (a->event.data < b->event.data);
}

static int flush_cut(struct grafting *gr)
{
	struct cut_line *l = &gr->line;
	int r = 0;

	if (l->n_cut)
		qsort(l->cut, l->n_cut, sizeof *l->cut, compare_cut);
	for (size_t i = 0; i < l->n_cut && !r; i++)
		r = put_event(gr, &l->cut[i].event, 0, l->cut[i].duration_ps, true);
	l->n_cut = 0;
	return r;
}

static int cut_event(struct cut_line *l, const struct pb_field *event, uint64_t duration_ps)
{
	if (l->n_cut == MAX_CUT)
		return -EBADMSG;
	if (grow(&l->cut, &l->n_cut_allocated, l->n_cut + 1))
		return -ENOMEM;
	l->cut[l->n_cut++] = (struct cut_event){duration_ps, *event};
	return 0;
}

/*
 * Reads an event's times. Returns 1, 0 for an aggregated event, which has no times, or a
 * negative errno. If an event has both offset_ps and num_occurrences, the last of these fields
 * counts, and num_occurrences means that the event is aggregated.
 */
static int read_times(
	const struct pb_field *event, int64_t *offset_ps, int64_t *duration_ps, bool *has_duration)
{
	struct pb_reader reader = pb_enter(event);
	struct pb_field f = {0};
	bool has_time = true;
	int r;

	*offset_ps = *duration_ps = 0;
	*has_duration = false;
	while ((r = pb_next(&reader, &f)) > 0) {
		if (f.tag == EVENT_OFFSET)
			*offset_ps = (int64_t)f.value;
		else if (f.tag == EVENT_DURATION) {
			*duration_ps = (int64_t)f.value;
			*has_duration = true;
		}
		if (f.tag == EVENT_OFFSET || f.tag == EVENT_OCCURRENCES)
			has_time = f.tag == EVENT_OFFSET;
	}
	return r ? r : has_time;
}

/* Encodes |event| of a cut line with its times in the other trace. */
static int move_event(struct grafting *gr, const struct pb_field *event)
{
	struct cut_line *l = &gr->line;
	int64_t offset_ps;
	int64_t duration_ps;
	int64_t start_ps;
	int64_t end_ps;
	bool has_duration;
	int r = read_times(event, &offset_ps, &duration_ps, &has_duration);

	if (r <= 0)
		return r ? r : keep_event(gr, event);
	start_ps = add_saturated(offset_ps, -(int64_t)l->cut_ps);
	end_ps = add_saturated(start_ps, duration_ps > 0 ? duration_ps : 0);
	if (start_ps < 0 && end_ps > 0)
		return cut_event(l, event, (uint64_t)end_ps);
	if (start_ps < 0) {
		gr->g->n_left_out++;
		return 0;
	}
	r = flush_cut(gr);
	return r ? r
		 : put_event(gr, event, (uint64_t)start_ps, (uint64_t)duration_ps, has_duration);
}

static int cut_line_end(struct grafting *gr)
{
	int r = flush_cut(gr);

	return r ? r : flush_batch(gr);
}

static void cut_line_deinit(struct cut_line *l)
{
	chunks_deinit(&l->batch);
	free(l->cut);
}

/* --- visitors of the walk ------------------------------------------------------------------ */

static int frame_put_pid(struct grafting *gr, const struct pb_field *plane)
{
	uint8_t *p = frame_reserve(gr, GRAFT_PID_BYTES);

	if (!p)
		return -ENOMEM;
	frame_commit(gr, graft_plane_encode_pid(plane, gr->g->pid, p));
	return 0;
}

static int begin_plane(struct grafting *gr, const struct pb_field *plane)
{
	char *name;
	int r;

	gr->keeps_name = gr->g->taken && !graft_plane_is_named(plane, gr->g->taken);
	if (gr->keeps_name) {
		r = frame_open_message(gr, SPACE_PLANES);
		return r ? r : frame_put_pid(gr, plane);
	}
	r = graft_plane_make_name(plane, gr->g->pid, &name);
	if (!r)
		r = frame_open_message(gr, SPACE_PLANES);
	if (!r)
		r = frame_put_uint(
			gr, PLANE_ID, (uint64_t)(gr->g->pid * PLANES_PER_PROCESS + gr->n_planes++));
	if (!r)
		r = frame_put_text(gr, PLANE_NAME, name);
	if (!r)
		r = frame_put_pid(gr, plane);
	free(name);
	return r;
}

static int begin_line(struct grafting *gr, int64_t line_ns)
{
	int64_t start_ns = add_saturated(line_ns, gr->g->shift_ns);
	int r = frame_open_message(gr, PLANE_LINES);

	cut_line_begin(&gr->line, start_ns);
	return r || start_ns <= 0 ? r : frame_put_uint(gr, LINE_TIMESTAMP, (uint64_t)start_ns);
}

static int begin_message(
	uint32_t number, const struct pb_field *message, int64_t line_ns, void *context)
{
	return number == SPACE_PLANES && !((struct grafting *)context)->depth
		       ? begin_plane(context, message)
		       : begin_line(context, line_ns);
}

static int end_message(void *context)
{
	struct grafting *gr = context;
	const struct graft_message *m = &gr->open[gr->depth - 1];
	int r = cut_line_end(gr);

	if (!r)
		r = flush_raw(gr);
	pb_put_padded(m->length, gr->g->total_bytes - m->start_bytes);
	gr->depth--;
	return r;
}

static int graft_event(int64_t time_ns, const uint8_t *p, size_t n, void *context)
{
	struct grafting *gr = context;
	struct pb_reader reader = pb_reader(p, n);
	struct pb_field event = {0};

	(void)time_ns;
	if (!gr->line.cut_ps)
		return keep_raw(gr, p, n);
	return pb_next(&reader, &event) > 0 ? move_event(gr, &event) : -EBADMSG;
}

/*
 * True for fields that are not copied: the graft writes its own values or, for the host's name,
 * nothing, because the other trace has that name, too.
 */
static bool field_is_replaced(const struct grafting *gr, uint32_t tag)
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

static int graft_field(const uint8_t *p, size_t n, void *context)
{
	struct grafting *gr = context;
	struct pb_reader reader = pb_reader(p, n);
	struct pb_field f = {0};

	if (pb_next(&reader, &f) <= 0)
		return -EBADMSG;
	return field_is_replaced(gr, f.tag) ? 0 : keep_raw(gr, p, n);
}

int graft_make(struct graft *g)
{
	struct grafting gr = {.g = g};
	const struct split whole = {
		.data = g->data, .n_bytes = g->n_bytes, .pass = g->pass, .context = g->context};
	const struct split_visitor v = {begin_message, end_message, graft_event, graft_field, &gr};
	int r;

	g->n_left_out = 0;
	r = split_walk(&whole, &v);
	if (!r)
		r = flush_raw(&gr);
	cut_line_deinit(&gr.line);
	return r;
}

void graft_deinit(struct graft *g)
{
	chunks_deinit(&g->frame);
	free(g->ranges);
	memset(g, 0, sizeof *g);
}
