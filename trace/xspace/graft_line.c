/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that begin too early; see graft_line.h. */
#include "trace/xspace/graft_line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "trace/saturate.h"
#include "trace/xspace/pbwire.h"
#include "trace/xspace/xspace_put.h"

#define MAX_BATCH_BYTES ((uint64_t)1 << 20)
/* Events of one line that were open at one moment; more are none of ours. */
#define MAX_CUT 65536

#define LINE_EVENTS PB_TAG(4, PB_LEN)
#define EVENT_OFFSET PB_TAG(2, PB_VARINT)
#define EVENT_DURATION PB_TAG(3, PB_VARINT)
#define EVENT_OCCURRENCES PB_TAG(5, PB_VARINT)
#define EVENT_HEAD_BYTES (4 * PB_VARINT_MAX_BYTES + 4)

struct cut_event {
	uint64_t duration_ps; /* of what is left */
	struct pb_field event;
};

void graft_line_begin(struct graft_line *l, int64_t start_ns)
{
	l->cut_ps = 0;
	if (start_ns < 0)
		l->cut_ps = start_ns > -(INT64_MAX / 1000) ? (uint64_t)-start_ns * 1000 : INT64_MAX;
}

static int flush_batch(struct graft_line *l)
{
	int r = l->batch.error;

	if (!r && l->batch.total_bytes)
		r = l->store(&l->batch, l->context);
	chunks_deinit(&l->batch);
	memset(&l->batch, 0, sizeof l->batch);
	return r;
}

/* What is neither its start nor its duration. */
static uint8_t *put_rest(uint8_t *p, const struct pb_field *event)
{
	struct pb_reader r = pb_enter(event);
	struct pb_field f = {0};
	const uint8_t *start = r.p;

	while (pb_next(&r, &f) > 0) {
		if (f.tag != EVENT_OFFSET && f.tag != EVENT_DURATION) {
			memcpy(p, start, (size_t)(r.p - start));
			p += r.p - start;
		}
		start = r.p;
	}
	return p;
}

/* An event's room in the batch, for its bytes; NULL: none. */
static uint8_t *begin_event(struct graft_line *l, const struct pb_field *event)
{
	uint8_t *p = chunks_reserve(&l->batch, event->n_bytes + EVENT_HEAD_BYTES);

	if (!p)
		return NULL;
	*p = (uint8_t)LINE_EVENTS;
	return p + 2;
}

/* Its bytes are between |p| and |end|. */
static int end_event(struct graft_line *l, uint8_t *p, uint8_t *end)
{
	end = put_length_before(p - 1, end);
	chunks_commit(&l->batch, (size_t)(end - (p - 2)));
	return l->batch.total_bytes < MAX_BATCH_BYTES ? 0 : flush_batch(l);
}

/* |duration_ps| of 0 is written where |has_duration|: that is a span, and no instant. */
static int put_event(struct graft_line *l, const struct pb_field *event, uint64_t offset_ps,
	uint64_t duration_ps, int has_duration)
{
	uint8_t *p = begin_event(l, event);
	uint8_t *end;

	if (!p)
		return l->batch.error;
	end = put_rest(p, event);
	end = pb_put_uint(end, EVENT_OFFSET >> 3, offset_ps);
	if (has_duration)
		end = pb_put_uint(end, EVENT_DURATION >> 3, duration_ps);
	return end_event(l, p, end);
}

static int keep_event(struct graft_line *l, const struct pb_field *event)
{
	uint8_t *p = begin_event(l, event);

	return p ? end_event(l, p, mempcpy(p, event->data, event->n_bytes)) : l->batch.error;
}

/* They all begin now: the longest is the outermost. */
static int compare_cut(const void *left, const void *right)
{
	const struct cut_event *a = left;
	const struct cut_event *b = right;

	if (a->duration_ps != b->duration_ps)
		return a->duration_ps > b->duration_ps ? -1 : 1;
	return (a->event.data > b->event.data) - (a->event.data < b->event.data);
}

static int flush_cut(struct graft_line *l)
{
	int r = 0;

	if (l->n_cut)
		qsort(l->cut, l->n_cut, sizeof *l->cut, compare_cut);
	for (size_t i = 0; i < l->n_cut && !r; i++)
		r = put_event(l, &l->cut[i].event, 0, l->cut[i].duration_ps, 1);
	l->n_cut = 0;
	return r;
}

static int cut_event(struct graft_line *l, const struct pb_field *event, uint64_t duration_ps)
{
	if (l->n_cut == MAX_CUT)
		return -EBADMSG;
	if (grow(&l->cut, &l->n_cut_allocated, l->n_cut + 1))
		return -ENOMEM;
	l->cut[l->n_cut++] = (struct cut_event){duration_ps, *event};
	return 0;
}

/* An event's own times; 0 when it has none, as aggregated ones have: the last of both says which it is. */
static int read_times(
	const struct pb_field *event, int64_t *offset_ps, int64_t *duration_ps, int *has_duration)
{
	struct pb_reader r = pb_enter(event);
	struct pb_field f = {0};
	int has_time = 1;
	int rc;

	*offset_ps = *duration_ps = 0;
	*has_duration = 0;
	while ((rc = pb_next(&r, &f)) > 0) {
		if (f.tag == EVENT_OFFSET)
			*offset_ps = (int64_t)f.value;
		else if (f.tag == EVENT_DURATION) {
			*duration_ps = (int64_t)f.value;
			*has_duration = 1;
		}
		if (f.tag == EVENT_OFFSET || f.tag == EVENT_OCCURRENCES)
			has_time = f.tag == EVENT_OFFSET;
	}
	return rc ? rc : has_time;
}

int graft_line_move(struct graft_line *l, const struct pb_field *event)
{
	int64_t offset_ps;
	int64_t duration_ps;
	int64_t start_ps;
	int64_t end_ps;
	int has_duration;
	int r = read_times(event, &offset_ps, &duration_ps, &has_duration);

	if (r <= 0)
		return r ? r : keep_event(l, event);
	start_ps = add_saturated(offset_ps, -(int64_t)l->cut_ps);
	end_ps = add_saturated(start_ps, duration_ps > 0 ? duration_ps : 0);
	if (start_ps < 0 && end_ps > 0)
		return cut_event(l, event, (uint64_t)end_ps);
	if (start_ps < 0) {
		l->n_left_out++;
		return 0;
	}
	r = flush_cut(l);
	return r ? r : put_event(l, event, (uint64_t)start_ps, (uint64_t)duration_ps, has_duration);
}

int graft_line_end(struct graft_line *l)
{
	int r = flush_cut(l);

	return r ? r : flush_batch(l);
}

void graft_line_deinit(struct graft_line *l)
{
	chunks_deinit(&l->batch);
	free(l->cut);
}
