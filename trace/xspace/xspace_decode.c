/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes XSpace bytes into a space, with one function per message. Planes and lines are read
 * twice: first for the fields that their parts refer to (metadata, line header), which may stand
 * behind those parts, then for the parts.
 *
 * The decoder leaves out fields that the model has no place for: stats, display names and children
 * of event metadata, descriptions of stats, and aggregated events (num_occurrences), which have no
 * time; a warning counts the latter. A line without a name gets its display name. An id without
 * metadata is called "?<id>".
 */
#include "trace/xspace/xspace.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/grow.h"
#include "trace/model/space.h"
#include "trace/saturate.h"
#include "trace/xspace/pbwire.h"
#include "trace/xspace/xspace_decoder.h"

/* --- errors, texts and ids ----------------------------------------------------------------- */

int decoder_fail_memory(struct decoder *d)
{
	return diag_set(d->diag, -ENOMEM, "trace: out of memory while reading it");
}

static int decoder_fail_bytes(
	struct decoder *d, const struct pb_reader *reader, const char *message)
{
	return diag_set(d->diag, -EBADMSG, "at byte %zu, in %s: %s; is it whole?",
		(size_t)(reader->p - d->data), message, reader->error);
}

/*
 * Ends a message's loop: |r| is the last result of pb_next(); the text of an error names |message|
 * and the offset.
 */
static int decoder_finish(
	struct decoder *d, const struct pb_reader *reader, int r, const char *message)
{
	return r < 0 ? decoder_fail_bytes(d, reader, message) : 0;
}

/* Returns a terminated copy, owned by the caller; NULL when memory ran out. */
static char *decoder_copy_text(const struct pb_field *f)
{
	return f->n_bytes ? strndup((const char *)f->data, f->n_bytes) : strdup("");
}

static int decoder_intern(
	struct decoder *d, struct names *names, const struct pb_field *f, uint32_t *index)
{
	*index = names_intern(names, f->n_bytes ? (const char *)f->data : "", f->n_bytes);
	return *index == NAMES_NONE ? decoder_fail_memory(d) : 0;
}

/*
 * Finds the index of an id; an id without metadata gets the name "?<id>", in a brief reading "?".
 */
static int decoder_resolve(struct decoder *d, const struct idmap *map, struct names *names,
	int64_t id, uint32_t *index)
{
	char text[32];

	*index = idmap_find(map, id);
	if (*index != IDMAP_NONE)
		return 0;
	if (d->is_brief)
		snprintf(text, sizeof text, "?");
	else
		snprintf(text, sizeof text, "?%lld", (long long)id);
	*index = names_intern(names, text, strlen(text));
	return *index == NAMES_NONE ? decoder_fail_memory(d) : 0;
}

/* --- stats --------------------------------------------------------------------------------- */

static int stat_set_blob(struct decoder *d, const struct pb_field *f, struct trace_stat *stat)
{
	stat->type = STAT_BYTES;
	stat->value.bytes = NAMES_NONE;
	if (d->is_brief)
		return 0;
	stat->value.bytes = plane_add_blob(d->plane, f->data, f->n_bytes);
	return stat->value.bytes == NAMES_NONE ? decoder_fail_memory(d) : 0;
}

static int stat_set_string(struct decoder *d, const struct pb_field *f, struct trace_stat *stat)
{
	stat->type = STAT_STRING;
	stat->value.string = NAMES_NONE;
	if (d->is_brief)
		return 0;
	return decoder_intern(d, &d->plane->stat_names, f, &stat->value.string);
}

static int stat_set_reference(struct decoder *d, const struct pb_field *f, struct trace_stat *stat)
{
	stat->type = STAT_STRING;
	return decoder_resolve(
		d, &d->stats, &d->plane->stat_names, (int64_t)f->value, &stat->value.string);
}

static int decode_stat_value(struct decoder *d, const struct pb_field *f, struct trace_stat *stat)
{
	switch (f->tag) {
	case PB_TAG(2, PB_FIXED64):
		stat->type = STAT_DOUBLE;
		memcpy(&stat->value.f64, &f->value, sizeof stat->value.f64);
		return 0;
	case PB_TAG(3, PB_VARINT):
		stat->type = STAT_UINT64;
		stat->value.u64 = f->value;
		return 0;
	case PB_TAG(4, PB_VARINT):
		stat->type = STAT_INT64;
		stat->value.i64 = (int64_t)f->value;
		return 0;
	case PB_TAG(5, PB_LEN):
		return stat_set_string(d, f, stat);
	case PB_TAG(6, PB_LEN):
		return stat_set_blob(d, f, stat);
	case PB_TAG(7, PB_VARINT):
		return stat_set_reference(d, f, stat);
	}
	return 0;
}

/* stat->type stays 0 when the message has no value. */
static int decode_stat(struct decoder *d, const struct pb_field *message, struct trace_stat *stat)
{
	struct pb_reader reader = pb_enter(message);
	struct pb_field f = {0};
	int64_t id = 0;
	int r;

	memset(stat, 0, sizeof *stat);
	while ((r = pb_next(&reader, &f)) > 0) {
		if (f.tag == PB_TAG(1, PB_VARINT))
			id = (int64_t)f.value;
		else
			r = decode_stat_value(d, &f, stat);
		if (r < 0)
			return r;
	}
	r = decoder_finish(d, &reader, r, "a stat");
	return r ? r : decoder_resolve(d, &d->stats, &d->plane->stat_names, id, &stat->name);
}

/* Appends the stat to d->list. */
static int decode_event_stat(struct decoder *d, const struct pb_field *message)
{
	struct trace_stat stat;
	int r = decode_stat(d, message, &stat);

	if (r || !stat.type)
		return r;
	if (grow(&d->list, &d->n_list_allocated, d->n_list + 1))
		return decoder_fail_memory(d);
	d->list[d->n_list++] = stat;
	return 0;
}

static int decode_plane_stat(struct decoder *d, const struct pb_field *message)
{
	struct trace_stat stat;
	int r = decode_stat(d, message, &stat);

	if (r || !stat.type)
		return r;
	return plane_add_own_stat(d->plane, &stat) ? decoder_fail_memory(d) : 0;
}

/* --- events -------------------------------------------------------------------------------- */

/* The fields of an XEvent in the wire's units. */
struct wire_event {
	int64_t id;
	int64_t offset_ps;
	int64_t duration_ps;
	bool has_duration; /* the field is present, though its value may be 0 */
	bool is_aggregated;
};

/*
 * Rounds to the nearest ns. The two ends of a span are rounded alike, so that nesting stays proper.
 */
static int64_t ps_to_ns(int64_t ps)
{
	int64_t ns = ps / 1000;
	int64_t rest = ps % 1000;

	return ns + (rest >= 500) - (rest < -500);
}

static void event_set_times(
	struct trace_event *event, const struct wire_event *wire, int64_t base_ns)
{
	int64_t duration_ps = wire->duration_ps > 0 ? wire->duration_ps : 0;
	int64_t start_ns = ps_to_ns(wire->offset_ps);
	int64_t end_ns = ps_to_ns(add_saturated(wire->offset_ps, duration_ps));

	event->start_ns = add_saturated(base_ns, start_ns);
	event->duration_ns = end_ns - start_ns;
	event->is_span = wire->has_duration;
}

static int decode_event_field(struct decoder *d, const struct pb_field *f, struct wire_event *wire)
{
	switch (f->tag) {
	case PB_TAG(1, PB_VARINT):
		wire->id = (int64_t)f->value;
		return 0;
	case PB_TAG(2, PB_VARINT):
		wire->offset_ps = (int64_t)f->value;
		wire->is_aggregated = false;
		return 0;
	case PB_TAG(3, PB_VARINT):
		wire->duration_ps = (int64_t)f->value;
		wire->has_duration = true;
		return 0;
	case PB_TAG(4, PB_LEN):
		return decode_event_stat(d, f);
	case PB_TAG(5, PB_VARINT):
		wire->is_aggregated = true;
		return 0;
	}
	return 0;
}

static int add_event(
	struct decoder *d, struct line *line, const struct wire_event *wire, int64_t base_ns)
{
	struct trace_event event = {0};
	int r = decoder_resolve(d, &d->events, &d->plane->event_names, wire->id, &event.name);

	if (r)
		return r;
	event_set_times(&event, wire, base_ns);
	event.stats = plane_add_stats(d->plane, d->list, d->n_list);
	if (d->n_list && !event.stats)
		return decoder_fail_memory(d);
	return line_add_event(line, &event) ? decoder_fail_memory(d) : 0;
}

static int decode_event(
	struct decoder *d, const struct pb_field *message, struct line *line, int64_t base_ns)
{
	struct pb_reader reader = pb_enter(message);
	struct wire_event wire = {0};
	struct pb_field f = {0};
	int r;

	d->n_list = 0;
	while ((r = pb_next(&reader, &f)) > 0) {
		r = decode_event_field(d, &f, &wire);
		if (r < 0)
			return r;
	}
	r = decoder_finish(d, &reader, r, "an event");
	if (r)
		return r;
	if (wire.is_aggregated) {
		d->n_aggregated++;
		return 0;
	}
	return add_event(d, line, &wire, base_ns);
}

/* --- lines --------------------------------------------------------------------------------- */

struct line_header {
	int64_t id;
	int64_t timestamp_ns;
	size_t n_events;
	struct pb_field name; /* data is NULL where there is none */
	struct pb_field display_name;
};

/* Tells the sink how far the reading has come. */
static int decoder_pass(const struct decoder *d, const uint8_t *p)
{
	return d->sink ? d->sink->pass(p, d->sink->context) : 0;
}

static void decode_header_field(struct line_header *h, const struct pb_field *f)
{
	if (f->tag == PB_TAG(1, PB_VARINT))
		h->id = (int64_t)f->value;
	else if (f->tag == PB_TAG(2, PB_LEN))
		h->name = *f;
	else if (f->tag == PB_TAG(3, PB_VARINT))
		h->timestamp_ns = (int64_t)f->value;
	else if (f->tag == PB_TAG(4, PB_LEN))
		h->n_events++;
	else if (f->tag == PB_TAG(11, PB_LEN))
		h->display_name = *f;
}

static int decode_line_header(
	struct decoder *d, const struct pb_field *message, struct line_header *h)
{
	struct pb_reader reader = pb_enter(message);
	struct pb_field f = {0};
	int r;

	while ((r = pb_next(&reader, &f)) > 0) {
		decode_header_field(h, &f);
		r = decoder_pass(d, reader.p);
		if (r < 0)
			return r;
	}
	return decoder_finish(d, &reader, r, "a line");
}

static char *copy_line_name(const struct line_header *h)
{
	return decoder_copy_text(h->name.n_bytes ? &h->name : &h->display_name);
}

static struct line *decode_new_line(struct decoder *d, const struct line_header *h)
{
	_cleanup_free_ char *name = copy_line_name(h);

	return name ? plane_add_line(d->plane, h->id, name, h->n_events) : NULL;
}

/*
 * Decodes the events of a line; no error in the wire format is left, since decode_line_header() has
 * read it.
 */
static int decode_events(struct decoder *d, const struct pb_field *message,
	const struct line_header *h, struct line *line,
	int (*after)(struct decoder *, struct line *))
{
	struct pb_reader reader = pb_enter(message);
	struct pb_field f = {0};
	int r;

	while ((r = pb_next(&reader, &f)) > 0) {
		if (f.tag != PB_TAG(4, PB_LEN))
			continue;
		r = decode_event(d, &f, line, h->timestamp_ns);
		if (r == 0)
			r = decoder_pass(d, reader.p);
		if (r == 0)
			r = after(d, line);
		if (r < 0)
			return r;
	}
	return 0;
}

static int keep_events(struct decoder *d, struct line *line)
{
	(void)d, (void)line;
	return 0;
}

static int decode_line_into_plane(
	struct decoder *d, const struct pb_field *message, const struct line_header *h)
{
	struct line *line = decode_new_line(d, h);
	int r;

	if (!line)
		return decoder_fail_memory(d);
	r = decode_events(d, message, h, line, keep_events);
	if (r == 0)
		line_sort(line);
	return r;
}

/* --- lines for a sink ---------------------------------------------------------------------- */

#define SINK_EVENTS 1024 /* events that a sink gets at a time */

static int sink_take_events(struct decoder *d, struct line *line, bool is_last)
{
	int r = d->sink->take(d->plane, line, is_last, d->sink->context);

	line->n_events = 0;
	d->plane->n_stats = 0;
	return r;
}

static int sink_take_full_batch(struct decoder *d, struct line *line)
{
	return line->n_events < SINK_EVENTS ? 0 : sink_take_events(d, line, false);
}

static int decode_line_into_sink(
	struct decoder *d, const struct pb_field *message, const struct line_header *h)
{
	struct line line = {.id = h->id, .name = copy_line_name(h)};
	int r;

	if (!line.name)
		return decoder_fail_memory(d);
	d->is_brief = true;
	r = decode_events(d, message, h, &line, sink_take_full_batch);
	d->is_brief = false;
	if (r == 0)
		r = sink_take_events(d, &line, true);
	free(line.name);
	free(line.events);
	return r;
}

static int decode_line(struct decoder *d, const struct pb_field *message)
{
	struct line_header h = {0};
	int r = decode_line_header(d, message, &h);

	if (r)
		return r;
	return d->sink ? decode_line_into_sink(d, message, &h)
		       : decode_line_into_plane(d, message, &h);
}

/* --- metadata ------------------------------------------------------------------------------ */

struct metadata {
	int64_t id;
	struct pb_field name;
};

/* XEventMetadata or XStatMetadata: {id = 1, name = 2, …} */
static int decode_metadata_value(
	struct decoder *d, const struct pb_field *message, struct metadata *m)
{
	struct pb_reader reader = pb_enter(message);
	struct pb_field f = {0};
	int r;

	while ((r = pb_next(&reader, &f)) > 0) {
		if (f.tag == PB_TAG(2, PB_LEN))
			m->name = f;
	}
	return decoder_finish(d, &reader, r, "a metadata value");
}

/*
 * Decodes an entry of a map: {key = 1, value = 2}. The key counts; the id inside the value is a
 * copy of it.
 */
static int decode_metadata(
	struct decoder *d, const struct pb_field *message, struct idmap *map, struct names *names)
{
	struct pb_reader reader = pb_enter(message);
	struct metadata m = {0};
	struct pb_field f = {0};
	uint32_t index;
	int r;

	while ((r = pb_next(&reader, &f)) > 0) {
		if (f.tag == PB_TAG(1, PB_VARINT))
			m.id = (int64_t)f.value;
		else if (f.tag == PB_TAG(2, PB_LEN))
			r = decode_metadata_value(d, &f, &m);
		if (r < 0)
			return r;
	}
	r = decoder_finish(d, &reader, r, "a metadata entry");
	if (r == 0)
		r = decoder_intern(d, names, &m.name, &index);
	if (r)
		return r;
	return idmap_add(map, m.id, index) ? decoder_fail_memory(d) : 0;
}

/* --- planes -------------------------------------------------------------------------------- */

static int decode_plane_field(struct decoder *d, const struct pb_field *f)
{
	switch (f->tag) {
	case PB_TAG(1, PB_VARINT):
		d->plane->id = (int64_t)f->value;
		return 0;
	case PB_TAG(2, PB_LEN):
		free(d->plane->name);
		d->plane->name = decoder_copy_text(f);
		return d->plane->name ? 0 : decoder_fail_memory(d);
	case PB_TAG(4, PB_LEN):
		return decode_metadata(d, f, &d->events, &d->plane->event_names);
	case PB_TAG(5, PB_LEN):
		return decode_metadata(d, f, &d->stats, &d->plane->stat_names);
	}
	return 0;
}

static int decode_plane_part(struct decoder *d, const struct pb_field *f)
{
	switch (f->tag) {
	case PB_TAG(3, PB_LEN):
		return decode_line(d, f);
	case PB_TAG(6, PB_LEN):
		return decode_plane_stat(d, f);
	}
	return 0;
}

static int walk_plane(struct decoder *d, const struct pb_field *message,
	int (*decode)(struct decoder *, const struct pb_field *))
{
	struct pb_reader reader = pb_enter(message);
	struct pb_field f = {0};
	int r;

	while ((r = pb_next(&reader, &f)) > 0) {
		r = decode(d, &f);
		if (r < 0)
			return r;
	}
	return decoder_finish(d, &reader, r, "a plane");
}

static int decode_plane(struct decoder *d, const struct pb_field *message)
{
	int r;

	d->plane = space_add_plane(d->space, 0, "");
	if (!d->plane)
		return decoder_fail_memory(d);
	r = walk_plane(d, message, decode_plane_field);
	idmap_sort(&d->events);
	idmap_sort(&d->stats);
	if (r == 0)
		r = walk_plane(d, message, decode_plane_part);
	idmap_deinit(&d->events);
	idmap_deinit(&d->stats);
	return r;
}

/* --- the whole ----------------------------------------------------------------------------- */

static int decode_space_field(struct decoder *d, const struct pb_field *f)
{
	uint32_t index;

	switch (f->tag) {
	case PB_TAG(1, PB_LEN):
		return decode_plane(d, f);
	case PB_TAG(2, PB_LEN):
		return decoder_intern(d, &d->space->errors, f, &index);
	case PB_TAG(3, PB_LEN):
		return decoder_intern(d, &d->space->warnings, f, &index);
	case PB_TAG(4, PB_LEN):
		return decoder_intern(d, &d->space->hostnames, f, &index);
	}
	return 0;
}

int decoder_read_space(struct decoder *d, size_t n_bytes)
{
	struct pb_reader reader = pb_reader(d->data, n_bytes);
	struct pb_field f = {0};
	int r;

	while ((r = pb_next(&reader, &f)) > 0) {
		r = decode_space_field(d, &f);
		if (r < 0)
			break;
	}
	if (r == 0 || reader.error)
		r = decoder_finish(d, &reader, r, "the space");
	if (r == 0 && d->n_aggregated &&
		space_add_warning(d->space, "%llu aggregated events have no time and are left out",
			(unsigned long long)d->n_aggregated))
		r = decoder_fail_memory(d);
	free(d->list);
	d->list = NULL;
	return r;
}

int xspace_decode(const uint8_t *data, size_t n_bytes, struct space **out, struct diag *diag)
{
	_cleanup_(space_freep) struct space *space = NULL;
	struct decoder d = {.data = data, .diag = diag};
	int r;

	if (space_new(&space))
		return decoder_fail_memory(&d);
	d.space = space;
	r = decoder_read_space(&d, n_bytes);
	if (r)
		return r;
	*out = space;
	space = NULL;
	return 0;
}
