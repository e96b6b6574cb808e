/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events are nearly all of an XSpace, so their loop is the one that counts: room is reserved for a
 * batch, an event is written where it will stay, and its length, one byte in all but rare cases, is
 * filled in afterwards.
 */
#include "trace/xspace/xspace_encoder.h"

#include "base/chunks.h"
#include "trace/model/space.h"
#include "trace/xspace/xspace_put.h"

/* Reserved room at the end of the output that is committed a batch at a time. */
struct cursor {
	struct chunks *out;
	uint8_t *start;
	uint8_t *p;
	uint8_t *end;
};

static void cursor_commit(struct cursor *c)
{
	if (c->p != c->start)
		chunks_commit(c->out, (size_t)(c->p - c->start));
	c->start = c->p;
}

static __attribute__((noinline)) bool cursor_refill(struct cursor *c, size_t n)
{
	size_t n_bytes = n > BATCH_BYTES ? n : BATCH_BYTES;

	cursor_commit(c);
	c->start = c->p = chunks_reserve(c->out, n_bytes);
	c->end = c->p ? c->p + n_bytes : NULL;
	return c->p != NULL;
}

static inline bool cursor_has(struct cursor *c, size_t n)
{
	return (size_t)(c->end - c->p) >= n || cursor_refill(c, n);
}

static __attribute__((noinline)) bool write_event_with_stats(const struct plane_encoder *e,
	struct cursor *c, const struct trace_event *event, int64_t base_ns)
{
	const struct trace_stat *stats = &e->plane->stats[event->stats - 1];

	if (!cursor_has(c, HEAD_MAX_BYTES + stats_max_bytes(e, stats)))
		return false;
	c->p = put_event_with_stats(c->p, e, event, stats, base_ns);
	return true;
}

/* In its caller's loop: the registers that it needs stay there. */
static inline __attribute__((always_inline)) bool write_event(const struct plane_encoder *e,
	struct cursor *c, const struct trace_event *event, int64_t base_ns, enum pb_means means)
{
	if (event->stats)
		return write_event_with_stats(e, c, event, base_ns);
	if (!cursor_has(c, HEAD_MAX_BYTES))
		return false;
	c->p = put_plain_event(c->p, event, base_ns, means);
	return true;
}

static inline __attribute__((always_inline)) void write_some_by(const struct plane_encoder *e,
	const struct trace_event *events, size_t n, int64_t base_ns, enum pb_means means)
{
	struct cursor c = {e->out, NULL, NULL, NULL};

	for (size_t i = 0; i < n; i++)
		if (!write_event(e, &c, &events[i], base_ns, means))
			return;
	cursor_commit(&c);
}

/* A loop for each of the means, which is a constant there. */
static void write_some(
	const struct plane_encoder *e, const struct trace_event *events, size_t n, int64_t base_ns)
{
	if (pb_find_means() == PB_PDEP)
		write_some_by(e, events, n, base_ns, PB_PDEP);
	else
		write_some_by(e, events, n, base_ns, PB_SHIFTS);
}

void encoder_write_some(const struct plane_encoder *e, const struct trace_event *events, size_t n)
{
	write_some(e, events, n, 0);
}

void encoder_write_events(const struct plane_encoder *e, const struct line *line, int64_t base_ns)
{
	struct cursor c = {e->out, NULL, NULL, NULL};

	if (!encoder_is_counter_line(line)) {
		write_some(e, line->events, line->n_events, base_ns);
		return;
	}
	for (size_t i = 0; i < line->n_events; i++)
		if (encoder_is_drawable(e->plane, &line->events[i]) &&
			!write_event(e, &c, &line->events[i], base_ns, PB_SHIFTS))
			return;
	cursor_commit(&c);
}
