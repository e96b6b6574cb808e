/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of an XSpace that are written into reserved room: texts, stats, events. They are inline
 * because the loop over events (xspace_events.c) is made of them. Only xspace_encode.c and
 * xspace_events.c include this.
 */
#ifndef TRACE_XSPACE_ENCODER_H
#define TRACE_XSPACE_ENCODER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"
#include "trace/model/space.h"
#include "trace/xspace/pbwire.h"

struct chunks;
struct xspace_gaps;

/*
 * An event without stats: tag, length, metadata id, offset, duration; and the slack of wide stores
 */
#define HEAD_MAX_BYTES 32
#define BATCH_BYTES (16u << 10) /* room is reserved for at least this many bytes at once */
#define STAT_MAX_BYTES 24 /* a stat without the text or bytes in it */
#define FIELD_MAX_BYTES 16 /* tag and number, or tag and length */
#define RESERVED_STAT "group_id" /* with it, XProf believes that the file is grouped already */

/* How a name is altered before it is written. */
enum name_rule {
	NAME_AS_IS = 0,
	NAME_OF_COUNTER, /* quotes, backslashes and control characters become '_' */
	NAME_RESERVED, /* gets a '_' appended */
};

/* A plane that is being encoded. */
struct plane_encoder {
	const struct plane *plane;
	struct chunks *out;
	struct xspace_gaps *gaps; /* NULL: no line has stored events */
	uint8_t *event_rules; /* enum name_rule of each event name, by index */
	uint8_t *stat_rules;
	uint64_t n_bad_samples;
};

/*
 * Writes the events of |line|, relative to |base_ns|; samples that XProf cannot draw are left out.
 */
void encoder_write_events(const struct plane_encoder *e, const struct line *line, int64_t base_ns);

/*
 * XProf draws the first number among the stats of a sample, and breaks on one that is not finite.
 */
bool encoder_is_drawable(const struct plane *plane, const struct trace_event *event);

static inline int64_t ns_to_ps(int64_t ns)
{
	int64_t ps;

	if (__builtin_mul_overflow(ns, 1000, &ps))
		return ns < 0 ? INT64_MIN : INT64_MAX;
	return ps;
}

static inline bool is_unsafe_in_counter(char c)
{
	return c == '"' || c == '\\' || (unsigned char)c < 0x20 || c == 0x7f;
}

static inline bool is_safe_counter_name(const char *text)
{
	while (*text && !is_unsafe_in_counter(*text))
		text++;
	return *text == '\0';
}

static inline size_t named_length(const char *text, enum name_rule rule)
{
	return strlen(text) + (rule == NAME_RESERVED);
}

/* Writes a string field; the text becomes valid UTF-8 of the same length. */
static inline uint8_t *put_text(uint8_t *p, uint32_t number, const char *text, enum name_rule rule)
{
	size_t n = strlen(text);

	p = pb_put_varint(p, PB_TAG(number, PB_LEN));
	p = pb_put_varint(p, named_length(text, rule));
	utf8_copy((char *)p, text, n);
	if (rule == NAME_OF_COUNTER) {
		for (size_t i = 0; i < n; i++)
			p[i] = is_unsafe_in_counter((char)p[i]) ? '_' : p[i];
	}
	p += n;
	if (rule == NAME_RESERVED)
		*p++ = '_';
	return p;
}

/* True for a string without a metadata entry, or whose entry was altered for its use as a name. */
static inline bool is_written_in_full(const struct plane_encoder *e, const struct trace_stat *stat)
{
	if (stat->type != STAT_STRING || stat->is_own_text)
		return stat->type == STAT_STRING;
	return stat->value.string < e->plane->stat_names.n_texts &&
	       e->stat_rules[stat->value.string] != NAME_AS_IS;
}

static inline const char *stat_text(const struct plane_encoder *e, const struct trace_stat *stat)
{
	if (stat->is_own_text)
		return e->plane->own_texts + stat->value.string;
	return names_get(&e->plane->stat_names, stat->value.string);
}

static inline size_t stat_max_bytes(const struct plane_encoder *e, const struct trace_stat *stat)
{
	if (stat->type == STAT_BYTES)
		return STAT_MAX_BYTES + FIELD_MAX_BYTES +
		       e->plane->blobs[stat->value.bytes].n_bytes;
	if (is_written_in_full(e, stat))
		return STAT_MAX_BYTES + FIELD_MAX_BYTES + strlen(stat_text(e, stat));
	return STAT_MAX_BYTES;
}

static inline uint8_t *put_blob(uint8_t *p, const struct blob *blob)
{
	p = pb_put_varint(p, PB_TAG(6, PB_LEN));
	p = pb_put_varint(p, blob->n_bytes);
	memcpy(p, blob->data, blob->n_bytes);
	return p + blob->n_bytes;
}

static inline uint8_t *put_double(uint8_t *p, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	*p++ = PB_TAG(2, PB_FIXED64);
	return pb_put_fixed64(p, bits);
}

static inline uint8_t *put_stat_value(
	uint8_t *p, const struct plane_encoder *e, const struct trace_stat *stat)
{
	switch ((enum stat_type)stat->type) {
	case STAT_INT64:
		return pb_put_uint(p, 4, (uint64_t)stat->value.i64);
	case STAT_UINT64:
		return pb_put_uint(p, 3, stat->value.u64);
	case STAT_DOUBLE:
		return put_double(p, stat->value.f64);
	case STAT_STRING:
		if (is_written_in_full(e, stat))
			return put_text(p, 5, stat_text(e, stat), NAME_AS_IS);
		return pb_put_uint(p, 7, (uint64_t)stat->value.string + 1);
	case STAT_BYTES:
		return put_blob(p, &e->plane->blobs[stat->value.bytes]);
	}
	return p;
}

static inline uint8_t *put_stat(
	uint8_t *p, uint32_t number, const struct plane_encoder *e, const struct trace_stat *stat)
{
	uint8_t *length = p + 1;

	*p = (uint8_t)PB_TAG(number, PB_LEN);
	p = pb_put_uint(length + 1, 1, (uint64_t)stat->name + 1);
	return pb_put_length_before(length, put_stat_value(p, e, stat));
}

/* Writes the fields of an event without its tag, length and stats. */
static inline __attribute__((always_inline)) uint8_t *put_event_head(
	uint8_t *p, const struct trace_event *event, int64_t base_ns, enum pb_means means)
{
	p = pb_put_uint(p, 1, (uint64_t)event->name + 1);
	/* This field is a member of a oneof: it is written when it is 0, too. */
	p = pb_put_wide_uint_by(p, 2,
		(uint64_t)ns_to_ps((int64_t)((uint64_t)event->start_ns - (uint64_t)base_ns)),
		means);
	/* A span has the field even if its value is 0: this tells it from an instant. */
	if (event->duration_ns > 0 || event->is_span)
		p = pb_put_wide_uint_by(p, 3, (uint64_t)ns_to_ps(event->duration_ns), means);
	return p;
}

static inline __attribute__((always_inline)) uint8_t *put_plain_event(
	uint8_t *p, const struct trace_event *event, int64_t base_ns, enum pb_means means)
{
	uint8_t *end = put_event_head(p + 2, event, base_ns, means);

	p[0] = PB_TAG(4, PB_LEN);
	p[1] = (uint8_t)(end - (p + 2));
	return end;
}

static inline size_t stats_max_bytes(const struct plane_encoder *e, const struct trace_stat *stat)
{
	size_t n = PB_VARINT_MAX_BYTES + stat_max_bytes(e, stat);

	while (!stat->is_last)
		n += stat_max_bytes(e, ++stat);
	return n;
}

static inline uint8_t *put_event_with_stats(uint8_t *p, const struct plane_encoder *e,
	const struct trace_event *event, const struct trace_stat *stat, int64_t base_ns)
{
	uint8_t *end = put_event_head(p + 2, event, base_ns, PB_SHIFTS);

	end = put_stat(end, 4, e, stat);
	while (!stat->is_last)
		end = put_stat(end, 4, e, ++stat);
	p[0] = PB_TAG(4, PB_LEN);
	return pb_put_length_before(p + 1, end);
}

#endif
