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
#include "tests/unit/xspace_decode.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "base/grow.h"
#include "trace/model/idmap.h"
#include "trace/model/space.h"
#include "trace/xspace/pbwire.h"
#include "trace/xspace/wire.h"

/* --- errors, texts and ids ----------------------------------------------------------------- */

/*
 * The state of decoding a space: the ids of the plane being read, and the stats of the event being
 * read. Functions return 0 or a negative errno with the diag filled in.
 */
struct decoder {
	const uint8_t *data; /* start of the input, for offsets in messages */
	struct space *space;
	struct diag *diag;
	uint64_t n_aggregated;
	struct plane *plane; /* being read, as are the ids and stats below */
	struct idmap events; /* id -> index into event_names */
	struct idmap stats; /* id -> index into stat_names */
	struct trace_stat *list; /* stats of the event being read */
	size_t n_list;
	size_t n_list_allocated;
};

static int decoder_fail_memory(struct decoder *d)
{
	return diag_set(d->diag, -ENOMEM, "trace: out of memory while reading it");
}

static int decoder_fail_bytes(struct decoder *d, const struct wire_fault *fault)
{
	return diag_set(d->diag, -EBADMSG, "at byte %zu, in %s: %s; is it whole?",
		(size_t)(fault->p - d->data), fault->message, fault->error);
}

/*
 * Ends a message's loop: |r| is the last result of pb_next(); the text of an error names |message|
 * and the offset.
 */
static int decoder_finish(
	struct decoder *d, const struct pb_reader *reader, int r, const char *message)
{
	const struct wire_fault fault = {reader->p, message, reader->error};

	return r < 0 ? decoder_fail_bytes(d, &fault) : 0;
}

/* Returns a terminated copy, owned by the caller; NULL when memory ran out. */
static char *decoder_copy_text(const struct pb_field *f)
{
	return f->n_bytes ? strndup((const char *)f->data, f->n_bytes) : strdup("");
}

static int decoder_intern_bytes(struct decoder *d, struct names *names, const uint8_t *data,
	size_t n_bytes, uint32_t *index)
{
	*index = names_intern(names, n_bytes ? (const char *)data : "", n_bytes);
	return *index == NAMES_NONE ? decoder_fail_memory(d) : 0;
}

static int decoder_intern(
	struct decoder *d, struct names *names, const struct pb_field *f, uint32_t *index)
{
	return decoder_intern_bytes(d, names, f->data, f->n_bytes, index);
}

/* Finds the index of an id; an id without metadata gets the name "?<id>". */
static int decoder_resolve(struct decoder *d, const struct idmap *map, struct names *names,
	int64_t id, uint32_t *index)
{
	char text[32];

	*index = idmap_find(map, id);
	if (*index != IDMAP_NONE)
		return 0;
	snprintf(text, sizeof text, "?%lld", (long long)id);
	*index = names_intern(names, text, strlen(text));
	return *index == NAMES_NONE ? decoder_fail_memory(d) : 0;
}

/* --- stats --------------------------------------------------------------------------------- */

static int stat_set_blob(struct decoder *d, const struct wire_stat *wire, struct trace_stat *stat)
{
	stat->value.bytes = plane_add_blob(d->plane, wire->data, wire->n_bytes);
	return stat->value.bytes == NAMES_NONE ? decoder_fail_memory(d) : 0;
}

static int stat_set_string(struct decoder *d, const struct wire_stat *wire, struct trace_stat *stat)
{
	struct names *names = &d->plane->stat_names;

	if (wire->is_reference)
		return decoder_resolve(d, &d->stats, names, wire->reference, &stat->value.string);
	return decoder_intern_bytes(d, names, wire->data, wire->n_bytes, &stat->value.string);
}

/* stat->type is 0 if the message has no value. */
static int decode_stat(struct decoder *d, const struct pb_field *message, struct trace_stat *stat)
{
	struct wire_fault fault;
	struct wire_stat wire;
	int r = 0;

	if (wire_stat_read(message, &wire, &fault))
		return decoder_fail_bytes(d, &fault);
	*stat = (struct trace_stat){.type = (uint8_t)wire.type, .value.u64 = wire.value.u64};
	if (wire.type == STAT_STRING)
		r = stat_set_string(d, &wire, stat);
	else if (wire.type == STAT_BYTES)
		r = stat_set_blob(d, &wire, stat);
	return r ? r : decoder_resolve(d, &d->stats, &d->plane->stat_names, wire.key, &stat->name);
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

static int add_event(
	struct decoder *d, struct line *line, const struct wire_event *wire, int64_t base_ns)
{
	struct trace_event event = {0};
	int r = decoder_resolve(d, &d->events, &d->plane->event_names, wire->id, &event.name);

	if (r)
		return r;
	event.start_ns = wire_event_find_start(wire, base_ns, &event.duration_ns);
	event.is_span = wire->has_duration;
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
	struct wire_fault fault;
	struct pb_field stat;
	int r;

	d->n_list = 0;
	while ((r = wire_event_next_stat(&reader, &wire, &stat, &fault)) > 0) {
		r = decode_event_stat(d, &stat);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return decoder_fail_bytes(d, &fault);
	if (wire.is_aggregated) {
		d->n_aggregated++;
		return 0;
	}
	return add_event(d, line, &wire, base_ns);
}

/* --- lines --------------------------------------------------------------------------------- */

static int decode_line_header(
	struct decoder *d, const struct pb_field *message, struct wire_line *h)
{
	struct pb_reader reader = pb_enter(message);
	struct wire_fault fault;
	int r;

	do
		r = wire_line_next(&reader, h, &fault);
	while (r > 0);
	return r < 0 ? decoder_fail_bytes(d, &fault) : 0;
}

static struct line *decode_new_line(struct decoder *d, const struct wire_line *h)
{
	_cleanup_free_ char *name = decoder_copy_text(wire_line_get_name(h));

	return name ? plane_add_line(d->plane, h->id, name, 0) : NULL;
}

/*
 * Decodes the events of a line; no error in the wire format is left, since decode_line_header() has
 * read it.
 */
static int decode_events(struct decoder *d, const struct pb_field *message,
	const struct wire_line *h, struct line *line)
{
	struct pb_reader reader = pb_enter(message);
	struct pb_field f = {0};
	int r;

	while ((r = pb_next(&reader, &f)) > 0) {
		if (f.tag != PB_TAG(4, PB_LEN))
			continue;
		r = decode_event(d, &f, line, h->timestamp_ns);
		if (r < 0)
			return r;
	}
	return 0;
}

static int decode_line(struct decoder *d, const struct pb_field *message)
{
	struct wire_line h = {0};
	struct line *line;
	int r = decode_line_header(d, message, &h);

	if (r)
		return r;
	line = decode_new_line(d, &h);
	if (!line)
		return decoder_fail_memory(d);
	r = decode_events(d, message, &h, line);
	if (r == 0)
		line_sort(line);
	return r;
}

/* --- metadata ------------------------------------------------------------------------------ */

static int decode_metadata(
	struct decoder *d, const struct pb_field *message, struct idmap *map, struct names *names)
{
	struct wire_metadata m;
	struct wire_fault fault;
	uint32_t index;
	int r;

	if (wire_metadata_read(message, &m, &fault))
		return decoder_fail_bytes(d, &fault);
	r = decoder_intern(d, names, &m.name, &index);
	if (r)
		return r;
	return idmap_add(map, m.key, index) ? decoder_fail_memory(d) : 0;
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

static int decoder_read_space(struct decoder *d, size_t n_bytes)
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

uint8_t *xspace_flatten(const struct chunks *c)
{
	uint8_t *bytes = malloc(c->total_bytes + 1);
	size_t n = 0;

	for (size_t i = 0; bytes && i < c->n_chunks; i++) {
		memcpy(bytes + n, c->chunks[i].data, c->chunks[i].used_bytes);
		n += c->chunks[i].used_bytes;
	}
	return bytes;
}
