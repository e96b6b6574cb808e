/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the messages of an XSpace that several readers need: events, stats, headers of lines, and
 * metadata. The archive reads by these functions, and so does the decoder of the tests. They keep
 * the wire's units and ids, copy nothing, and are inline since they run for each event.
 *
 * A function that meets bytes that are no message returns -EBADMSG and fills a struct wire_fault.
 */
#ifndef TRACE_XSPACE_WIRE_H
#define TRACE_XSPACE_WIRE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "trace/model/space.h" /* enum stat_type */
#include "trace/saturate.h"
#include "trace/xspace/pbwire.h"

/* The place where a message is broken. */
struct wire_fault {
	const uint8_t *p;
	const char *message; /* "an event" */
	const char *error; /* "a number is cut off" */
};

static inline int wire_fail(
	struct wire_fault *fault, const struct pb_reader *reader, const char *message)
{
	*fault = (struct wire_fault){reader->p, message, reader->error};
	return -EBADMSG;
}

/* --- stats --------------------------------------------------------------------------------- */

struct wire_stat {
	int64_t key; /* id of the stat's metadata */
	enum stat_type type; /* 0: the stat has no value */
	bool is_reference; /* the text is the name of the stat metadata |reference| */
	union {
		int64_t i64;
		uint64_t u64;
		double f64;
	} value;
	int64_t reference;
	const uint8_t *data; /* STAT_STRING and STAT_BYTES; not terminated */
	size_t n_bytes;
};

static inline void wire_stat_set_bytes(
	struct wire_stat *stat, enum stat_type type, const struct pb_field *f)
{
	stat->type = type;
	stat->is_reference = false;
	stat->data = f->data;
	stat->n_bytes = f->n_bytes;
}

static inline void wire_stat_read_field(struct wire_stat *stat, const struct pb_field *f)
{
	switch (f->tag) {
	case PB_TAG(1, PB_VARINT):
		stat->key = (int64_t)f->value;
		return;
	case PB_TAG(2, PB_FIXED64):
		stat->type = STAT_DOUBLE;
		memcpy(&stat->value.f64, &f->value, sizeof stat->value.f64);
		return;
	case PB_TAG(3, PB_VARINT):
		stat->type = STAT_UINT64;
		stat->value.u64 = f->value;
		return;
	case PB_TAG(4, PB_VARINT):
		stat->type = STAT_INT64;
		stat->value.i64 = (int64_t)f->value;
		return;
	case PB_TAG(5, PB_LEN):
		wire_stat_set_bytes(stat, STAT_STRING, f);
		return;
	case PB_TAG(6, PB_LEN):
		wire_stat_set_bytes(stat, STAT_BYTES, f);
		return;
	case PB_TAG(7, PB_VARINT):
		stat->type = STAT_STRING;
		stat->is_reference = true;
		stat->reference = (int64_t)f->value;
		return;
	}
}

/* Reads the XStat in |message|. 0 or -EBADMSG. */
static inline int wire_stat_read(
	const struct pb_field *message, struct wire_stat *stat, struct wire_fault *fault)
{
	struct pb_reader reader = pb_enter(message);
	struct pb_field f;
	int r;

	*stat = (struct wire_stat){0};
	while ((r = pb_next(&reader, &f)) > 0)
		wire_stat_read_field(stat, &f);
	return r < 0 ? wire_fail(fault, &reader, "a stat") : 0;
}

/* --- events -------------------------------------------------------------------------------- */

struct wire_event {
	int64_t id; /* of the event's metadata */
	int64_t offset_ps;
	int64_t duration_ps;
	bool has_duration; /* the field is present, though its value may be 0 */
	bool is_aggregated; /* it stands for many events, and has no time */
};

static inline void wire_event_read_field(struct wire_event *event, const struct pb_field *f)
{
	switch (f->tag) {
	case PB_TAG(1, PB_VARINT):
		event->id = (int64_t)f->value;
		return;
	case PB_TAG(2, PB_VARINT):
		event->offset_ps = (int64_t)f->value;
		event->is_aggregated = false;
		return;
	case PB_TAG(3, PB_VARINT):
		event->duration_ps = (int64_t)f->value;
		event->has_duration = true;
		return;
	case PB_TAG(5, PB_VARINT):
		event->is_aggregated = true;
		return;
	}
}

/*
 * Reads an XEvent, in which |reader| is, up to its next stat: 1 and |stat|, 0 at the event's end,
 * or -EBADMSG. |event| is all zero bytes before the first call, and complete at the end.
 */
static inline int wire_event_next_stat(struct pb_reader *reader, struct wire_event *event,
	struct pb_field *stat, struct wire_fault *fault)
{
	int r;

	while ((r = pb_next(reader, stat)) > 0) {
		if (stat->tag == PB_TAG(4, PB_LEN))
			return 1;
		wire_event_read_field(event, stat);
	}
	return r < 0 ? wire_fail(fault, reader, "an event") : 0;
}

/* Rounds to the nearest ns. */
static inline int64_t ps_to_ns(int64_t ps)
{
	int64_t ns = ps / 1000;
	int64_t rest = ps % 1000;

	return ns + (rest >= 500) - (rest < -500);
}

/*
 * Returns the start and the duration (>= 0) in ns. The two ends of a span are rounded alike, so
 * that nesting stays proper.
 */
static inline int64_t wire_event_find_start(
	const struct wire_event *event, int64_t base_ns, int64_t *duration_ns)
{
	int64_t duration_ps = event->duration_ps > 0 ? event->duration_ps : 0;
	int64_t start_ns = ps_to_ns(event->offset_ps);

	*duration_ns = ps_to_ns(add_saturated(event->offset_ps, duration_ps)) - start_ns;
	return add_saturated(base_ns, start_ns);
}

/* --- headers of lines ---------------------------------------------------------------------- */

struct wire_line {
	int64_t id;
	int64_t timestamp_ns; /* added to the offsets of its events */
	struct pb_field own_name; /* data is NULL if there is none */
	struct pb_field display_name;
};

static inline void wire_line_read_field(struct wire_line *header, const struct pb_field *f)
{
	switch (f->tag) {
	case PB_TAG(1, PB_VARINT):
		header->id = (int64_t)f->value;
		return;
	case PB_TAG(2, PB_LEN):
		header->own_name = *f;
		return;
	case PB_TAG(3, PB_VARINT):
		header->timestamp_ns = (int64_t)f->value;
		return;
	case PB_TAG(11, PB_LEN):
		header->display_name = *f;
		return;
	}
}

/*
 * Reads the next field of the XLine in which |reader| is; fields may stand in any order. 1, 0 at
 * the line's end, or -EBADMSG. |header| is all zero bytes before the first call.
 */
static inline int wire_line_next(
	struct pb_reader *reader, struct wire_line *header, struct wire_fault *fault)
{
	struct pb_field f;
	int r = pb_next(reader, &f);

	if (r > 0)
		wire_line_read_field(header, &f);
	return r < 0 ? wire_fail(fault, reader, "a line") : r;
}

/* Returns the name that viewers show. */
static inline const struct pb_field *wire_line_get_name(const struct wire_line *header)
{
	return header->own_name.n_bytes ? &header->own_name : &header->display_name;
}

/* --- metadata ------------------------------------------------------------------------------ */

/* An entry of the maps event_metadata and stat_metadata. */
struct wire_metadata {
	int64_t key; /* the id; the one inside the value is a copy of it */
	struct pb_field value; /* the XEventMetadata or XStatMetadata; empty if there is none */
	struct pb_field name; /* in |value| */
};

/* Reads the entry in |message|. 0 or -EBADMSG. */
static inline int wire_metadata_read(
	const struct pb_field *message, struct wire_metadata *m, struct wire_fault *fault)
{
	struct pb_reader reader = pb_enter(message);
	struct pb_field f;
	int r;

	*m = (struct wire_metadata){0};
	while ((r = pb_next(&reader, &f)) > 0) {
		if (f.tag == PB_TAG(1, PB_VARINT))
			m->key = (int64_t)f.value;
		else if (f.tag == PB_TAG(2, PB_LEN))
			m->value = f;
	}
	if (r < 0)
		return wire_fail(fault, &reader, "a metadata entry");
	reader = pb_enter(&m->value);
	while ((r = pb_next(&reader, &f)) > 0)
		if (f.tag == PB_TAG(2, PB_LEN))
			m->name = f;
	return r < 0 ? wire_fail(fault, &reader, "a metadata value") : 0;
}

#endif
