/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes events. They are nearly all of an XSpace, so this loop must be fast: room is reserved for
 * a batch, an event is written to its final place, and its length, one byte in all but rare cases,
 * is filled in afterwards.
 */
#include "trace/xspace/xspace_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/grow.h"
#include "trace/model/space.h"
#include "trace/xspace/wire.h"
#include "trace/xspace/xspace_encoder.h"

/* --- the loop over events ------------------------------------------------------------------ */

/* Reserved room at the end of the output that is committed a batch at a time. */
struct batch {
	struct chunks *out;
	uint8_t *start;
	uint8_t *p;
	uint8_t *end;
};

static void batch_commit(struct batch *c)
{
	if (c->p != c->start)
		chunks_commit(c->out, (size_t)(c->p - c->start));
	c->start = c->p;
}

static __attribute__((noinline)) bool batch_refill(struct batch *c, size_t n)
{
	size_t n_bytes = n > BATCH_BYTES ? n : BATCH_BYTES;

	batch_commit(c);
	c->start = c->p = chunks_reserve(c->out, n_bytes);
	c->end = c->p ? c->p + n_bytes : NULL;
	return c->p != NULL;
}

static inline bool batch_reserve(struct batch *c, size_t n)
{
	return (size_t)(c->end - c->p) >= n || batch_refill(c, n);
}

static __attribute__((noinline)) bool write_event_with_stats(const struct plane_encoder *e,
	struct batch *c, const struct trace_event *event, int64_t base_ns)
{
	const struct trace_stat *stats = &e->plane->stats[event->stats - 1];

	if (!batch_reserve(c, HEAD_MAX_BYTES + stats_max_bytes(e, stats)))
		return false;
	c->p = put_event_with_stats(c->p, e, event, stats, base_ns);
	return true;
}

/* Inlined into its caller's loop, so that its values stay in registers. */
static inline __attribute__((always_inline)) bool write_event(const struct plane_encoder *e,
	struct batch *c, const struct trace_event *event, int64_t base_ns, enum pb_means means)
{
	if (event->stats)
		return write_event_with_stats(e, c, event, base_ns);
	if (!batch_reserve(c, HEAD_MAX_BYTES))
		return false;
	c->p = put_plain_event(c->p, event, base_ns, means);
	return true;
}

static inline __attribute__((always_inline)) void write_events_by(const struct plane_encoder *e,
	const struct trace_event *events, size_t n, int64_t base_ns, enum pb_means means)
{
	struct batch c = {e->out, NULL, NULL, NULL};

	for (size_t i = 0; i < n; i++)
		if (!write_event(e, &c, &events[i], base_ns, means))
			return;
	batch_commit(&c);
}

/* Has a copy of the loop for each of the means, in which |means| is constant, and calls one. */
static void write_events(
	const struct plane_encoder *e, const struct trace_event *events, size_t n, int64_t base_ns)
{
	if (pb_find_means() == PB_PDEP)
		write_events_by(e, events, n, base_ns, PB_PDEP);
	else
		write_events_by(e, events, n, base_ns, PB_SHIFTS);
}

void encoder_write_events(const struct plane_encoder *e, const struct line *line, int64_t base_ns)
{
	struct batch c = {e->out, NULL, NULL, NULL};

	if (!line_is_counters(line)) {
		write_events(e, line->events, line->n_events, base_ns);
		return;
	}
	for (size_t i = 0; i < line->n_events; i++)
		if (encoder_is_drawable(e->plane, &line->events[i]) &&
			!write_event(e, &c, &line->events[i], base_ns, PB_SHIFTS))
			return;
	batch_commit(&c);
}

/* --- parts of a long line ------------------------------------------------------------------ */

void xspace_events_init(struct xspace_events *x, const struct plane *plane)
{
	*x = (struct xspace_events){plane, NULL, 0, 0};
}

void xspace_events_deinit(struct xspace_events *x)
{
	free(x->rules);
	xspace_events_init(x, NULL);
}

/*
 * The metadata is not complete yet, and a text in it is altered if it becomes the name of a
 * counter's stat. So each text is treated as if it were such a name, too.
 */
static enum name_rule find_name_rule(const char *text)
{
	if (strcmp(text, RESERVED_STAT) == 0)
		return NAME_RESERVED;
	return is_safe_counter_name(text) ? NAME_AS_IS : NAME_OF_COUNTER;
}

static int add_name_rules(struct xspace_events *x)
{
	const struct names *names = &x->plane->stat_names;

	if (grow(&x->rules, &x->n_allocated, names->n_texts))
		return -ENOMEM;
	for (; x->n_rules < names->n_texts; x->n_rules++)
		x->rules[x->n_rules] = (uint8_t)find_name_rule(names->texts[x->n_rules]);
	return 0;
}

size_t xspace_events_max_bytes(const struct xspace_events *x, size_t n)
{
	return x->plane ? SIZE_MAX : n * HEAD_MAX_BYTES + BATCH_BYTES;
}

int xspace_events_encode(
	struct xspace_events *x, const struct trace_event *events, size_t n, struct chunks *out)
{
	struct plane_encoder e = {.plane = x->plane, .out = out};

	if (x->plane && add_name_rules(x))
		return -ENOMEM;
	e.stat_rules = x->rules;
	write_events(&e, events, n, 0);
	return out->error;
}

/* Reads the fields in front of the event's stats, which come last in what the encoder writes. */
static int read_times(const struct pb_field *event, struct wire_event *times)
{
	struct pb_reader reader = pb_enter(event);
	struct wire_fault fault;
	struct pb_field stat;
	int r;

	*times = (struct wire_event){0};
	r = wire_event_next_stat(&reader, times, &stat, &fault);
	return r < 0 ? r : 0;
}

static bool times_come_before(const struct wire_event *a, const struct wire_event *b)
{
	if (a->offset_ps != b->offset_ps)
		return a->offset_ps < b->offset_ps;
	return a->duration_ps > b->duration_ps;
}

ssize_t xspace_events_find(const uint8_t *data, size_t n_bytes, const struct trace_event *key)
{
	const struct wire_event limit = {
		.offset_ps = ns_to_ps(key->start_ns),
		.duration_ps = ns_to_ps(key->duration_ns),
	};
	struct pb_reader reader = pb_reader(data, n_bytes);
	const uint8_t *at = reader.p;
	struct pb_field event;
	int r;

	while ((r = pb_next(&reader, &event)) > 0) {
		struct wire_event times;

		if (event.tag != PB_TAG(4, PB_LEN) || read_times(&event, &times))
			return -EBADMSG;
		if (!times_come_before(&times, &limit))
			break;
		at = reader.p;
	}
	return r < 0 ? r : at - data;
}
