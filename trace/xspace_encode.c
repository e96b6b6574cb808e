/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space -> XSpace bytes; see xspace.h.
 *
 * Events are nearly all of the output, so their loop is the one that counts: room is reserved for
 * a batch, an event is written where it will stay, and its length, one byte in all but rare cases,
 * is filled in afterwards. Lengths of planes and lines are unknown until their end and are padded
 * varints.
 *
 * What readers of the format trip over is put right here and nowhere else: invalid UTF-8, the stat
 * name `group_id`, and the counter path of XProf, which prints names and numbers without escaping.
 */
#include "trace/xspace.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "trace/pbwire.h"
#include "trace/space.h"
#include "trace/xspace_put.h"

#define BATCH_BYTES (16u << 10)
#define LATE_NS (INT64_MAX / 2000) /* a line that starts after this needs a base: ps are 64 bits */
#define RESERVED_STAT "group_id"
#define BAD_SAMPLES_STAT "nan_counter_events"

/* A message whose length is filled in at its end. */
struct open_message {
	uint8_t *length; /* NULL when memory ran out */
	uint64_t start_bytes;
};

static struct open_message open_message(struct chunks *out, uint32_t number)
{
	uint8_t *p = chunks_reserve(out, 1 + PB_PADDED_BYTES);

	if (!p)
		return (struct open_message){NULL, 0};
	*p = (uint8_t)PB_TAG(number, PB_LEN);
	chunks_commit(out, 1 + PB_PADDED_BYTES);
	return (struct open_message){p + 1, out->total_bytes};
}

static void close_message(struct chunks *out, struct open_message message)
{
	if (message.length)
		pb_put_padded(message.length, out->total_bytes - message.start_bytes);
}

static bool is_safe_counter_name(const char *text)
{
	while (*text && !is_unsafe_in_counter(*text))
		text++;
	return *text == '\0';
}

static void write_text(struct chunks *out, uint32_t number, const char *text)
{
	uint8_t *p = chunks_reserve(out, FIELD_MAX_BYTES + strlen(text));

	if (p)
		chunks_commit(out, (size_t)(put_text(p, number, text, NAME_AS_IS) - p));
}

static void write_uint(struct chunks *out, uint32_t number, uint64_t value)
{
	uint8_t *p = chunks_reserve(out, FIELD_MAX_BYTES);

	if (p)
		chunks_commit(out, (size_t)(pb_put_uint(p, number, value) - p));
}

static void write_plane_stat(const struct plane_encoder *e, const struct trace_stat *stat)
{
	uint8_t *p = chunks_reserve(e->out, stat_max_bytes(e, stat));

	if (p)
		chunks_commit(e->out, (size_t)(put_stat(p, 6, e, stat) - p));
}

/* --- events -------------------------------------------------------------------------------- */

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

/*
 * XProf draws the first number among the stats of a sample, and breaks on one that is not finite.
 */
static bool is_drawable_sample(const struct plane *plane, const struct trace_event *event)
{
	const struct trace_stat *stat = plane_get_stats(plane, event);
	bool has_number = false;

	for (; stat; stat = stat_next(stat)) {
		if (stat->type == STAT_DOUBLE && !isfinite(stat->value.f64))
			return false;
		has_number |= stat->type <= STAT_DOUBLE;
	}
	return has_number;
}

static bool is_counter_line(const struct line *line)
{
	return strcmp(line->name, LINE_COUNTERS) == 0;
}

static inline bool write_event(const struct plane_encoder *e, struct cursor *c,
	const struct trace_event *event, int64_t base_ns)
{
	const struct trace_stat *stats;

	if (!event->stats) {
		if (!cursor_has(c, HEAD_MAX_BYTES))
			return false;
		c->p = put_plain_event(c->p, event, base_ns);
		return true;
	}
	stats = &e->plane->stats[event->stats - 1];
	if (!cursor_has(c, HEAD_MAX_BYTES + stats_max_bytes(e, stats)))
		return false;
	c->p = put_event_with_stats(c->p, e, event, stats, base_ns);
	return true;
}

static void write_events(const struct plane_encoder *e, const struct line *line, int64_t base_ns)
{
	bool is_counter = is_counter_line(line);
	struct cursor c = {e->out, NULL, NULL, NULL};

	for (size_t i = 0; i < line->n_events; i++) {
		if (is_counter && !is_drawable_sample(e->plane, &line->events[i]))
			continue;
		if (!write_event(e, &c, &line->events[i], base_ns))
			return;
	}
	cursor_commit(&c);
}

/* --- lines and planes ---------------------------------------------------------------------- */

static bool has_output(const struct plane_encoder *e, const struct line *line)
{
	if (!is_counter_line(line))
		return line->n_events > 0;
	for (size_t i = 0; i < line->n_events; i++) {
		if (is_drawable_sample(e->plane, &line->events[i]))
			return true;
	}
	return false;
}

static void write_line(const struct plane_encoder *e, const struct line *line)
{
	struct open_message message;
	int64_t base_ns = 0;

	if (!has_output(e, line))
		return;
	if (line->events[0].start_ns > LATE_NS)
		base_ns = line->events[0].start_ns;
	message = open_message(e->out, 3);
	write_uint(e->out, 1, (uint64_t)line->id);
	write_text(e->out, 2, line->name);
	if (base_ns)
		write_uint(e->out, 3, (uint64_t)base_ns);
	write_events(e, line, base_ns);
	close_message(e->out, message);
}

/* An entry of event_metadata or stat_metadata: {key = id, value = {id, name}}. */
static void write_metadata(
	struct chunks *out, uint32_t number, uint64_t id, const char *name, enum name_rule rule)
{
	size_t n = named_length(name, rule);
	size_t id_bytes = 1 + pb_varint_size(id);
	size_t value_bytes = id_bytes + 1 + pb_varint_size(n) + n;
	size_t entry_bytes = id_bytes + 1 + pb_varint_size(value_bytes) + value_bytes;
	uint8_t *start = chunks_reserve(out, 4 * FIELD_MAX_BYTES + n);
	uint8_t *p = start;

	if (!p)
		return;
	p = pb_put_varint(p, PB_TAG(number, PB_LEN));
	p = pb_put_varint(p, entry_bytes);
	p = pb_put_uint(p, 1, id);
	p = pb_put_varint(p, PB_TAG(2, PB_LEN));
	p = pb_put_varint(p, value_bytes);
	p = pb_put_uint(p, 1, id);
	p = put_text(p, 2, name, rule);
	chunks_commit(out, (size_t)(p - start));
}

static void write_names(
	struct chunks *out, uint32_t number, const struct names *names, const uint8_t *rules)
{
	for (uint32_t i = 0; i < names->n_texts && !out->error; i++)
		write_metadata(out, number, (uint64_t)i + 1, names->texts[i], rules[i]);
}

/* Plane stat and, where the plane does not know the name yet, its metadata. */
static void write_bad_samples(const struct plane_encoder *e)
{
	const struct names *names = &e->plane->stat_names;
	uint32_t name = names_find(names, BAD_SAMPLES_STAT);
	uint64_t id = name == NAMES_NONE ? (uint64_t)names->n_texts + 1 : (uint64_t)name + 1;
	struct open_message message;
	char text[96];

	if (!e->n_bad_samples)
		return;
	snprintf(text, sizeof text, "%llu counter samples were not finite numbers and are left out",
		(unsigned long long)e->n_bad_samples);
	if (name == NAMES_NONE)
		write_metadata(e->out, 5, id, BAD_SAMPLES_STAT, NAME_AS_IS);
	message = open_message(e->out, 6);
	write_uint(e->out, 1, id);
	write_text(e->out, 5, text);
	close_message(e->out, message);
}

static void mark_sample(struct plane_encoder *e, const struct trace_event *event)
{
	const struct plane *plane = e->plane;
	const struct trace_stat *stat = plane_get_stats(plane, event);

	if (!is_drawable_sample(plane, event)) {
		e->n_bad_samples++;
		return;
	}
	if (!is_safe_counter_name(names_get(&plane->event_names, event->name)))
		e->event_rules[event->name] = NAME_OF_COUNTER;
	for (; stat; stat = stat_next(stat)) {
		if (!is_safe_counter_name(names_get(&plane->stat_names, stat->name)))
			e->stat_rules[stat->name] = NAME_OF_COUNTER;
	}
}

/* Finds out which names may not be written as they are. */
static int set_rules(struct plane_encoder *e)
{
	const struct plane *plane = e->plane;
	uint32_t reserved = names_find(&plane->stat_names, RESERVED_STAT);

	e->event_rules = calloc((size_t)plane->event_names.n_texts + 1, 1);
	e->stat_rules = calloc((size_t)plane->stat_names.n_texts + 1, 1);
	if (!e->event_rules || !e->stat_rules)
		return -ENOMEM;
	for (size_t i = 0; i < plane->n_lines; i++) {
		const struct line *line = &plane->lines[i];

		for (size_t k = 0; is_counter_line(line) && k < line->n_events; k++)
			mark_sample(e, &line->events[k]);
	}
	if (reserved != NAMES_NONE)
		e->stat_rules[reserved] = NAME_RESERVED;
	return 0;
}

static void write_plane_fields(const struct plane_encoder *e)
{
	const struct plane *plane = e->plane;

	if (plane->id)
		write_uint(e->out, 1, (uint64_t)plane->id);
	write_text(e->out, 2, plane->name);
	write_names(e->out, 4, &plane->event_names, e->event_rules);
	write_names(e->out, 5, &plane->stat_names, e->stat_rules);
	for (size_t i = 0; i < plane->n_plane_stats; i++)
		write_plane_stat(e, &plane->plane_stats[i]);
	write_bad_samples(e);
	for (size_t i = 0; i < plane->n_lines && !e->out->error; i++)
		write_line(e, &plane->lines[i]);
}

static int write_plane(const struct plane *plane, struct chunks *out)
{
	struct plane_encoder e = {.plane = plane, .out = out};
	int rc = set_rules(&e);

	if (rc == 0) {
		struct open_message message = open_message(out, 1);

		write_plane_fields(&e);
		close_message(out, message);
	}
	free(e.event_rules);
	free(e.stat_rules);
	return rc ? rc : out->error;
}

static void write_texts(struct chunks *out, uint32_t number, const struct names *texts)
{
	for (uint32_t i = 0; i < texts->n_texts; i++)
		write_text(out, number, texts->texts[i]);
}

int xspace_encode(const struct space *space, struct chunks *out)
{
	for (size_t i = 0; i < space->n_planes; i++) {
		int rc = write_plane(space->planes[i], out);

		if (rc)
			return rc;
	}
	write_texts(out, 2, &space->errors);
	write_texts(out, 3, &space->warnings);
	write_texts(out, 4, &space->hostnames);
	return out->error;
}
