/* SPDX-License-Identifier: Apache-2.0 */
/*
 * XSpace bytes -> space; see xspace.h. One function per message. Planes and lines are read twice:
 * once for what their parts refer to (metadata, line header), which may stand behind those parts,
 * and once for the parts.
 *
 * What the model has no place for is left out: stats, display names and children of event
 * metadata, descriptions of stats, and aggregated events (num_occurrences), which have no time; a
 * warning counts those. A line without a name gets its display name. An id without metadata is
 * called "?<id>".
 */
#include "trace/xspace.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "trace/pbwire.h"
#include "trace/saturate.h"
#include "trace/space.h"
#include "trace/xspace_decoder.h"

/* --- events -------------------------------------------------------------------------------- */

/* The fields of an XEvent as they are on the wire. */
struct wire_event {
	int64_t id;
	int64_t offset_ps;
	int64_t duration_ps;
	bool is_aggregated;
};

/* To the nearest; the two ends of a span are rounded alike, so that nesting stays proper. */
static int64_t ps_to_ns(int64_t ps)
{
	int64_t ns = ps / 1000;
	int64_t rest = ps % 1000;

	return ns + (rest >= 500) - (rest < -500);
}

static void set_times(struct trace_event *event, const struct wire_event *wire, int64_t base_ns)
{
	int64_t duration_ps = wire->duration_ps > 0 ? wire->duration_ps : 0;
	int64_t start_ns = ps_to_ns(wire->offset_ps);
	int64_t end_ns = ps_to_ns(add_saturated(wire->offset_ps, duration_ps));

	event->start_ns = add_saturated(base_ns, start_ns);
	event->duration_ns = end_ns - start_ns;
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
		return 0;
	case PB_TAG(4, PB_LEN):
		return decoder_read_event_stat(d, f);
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
	int rc = decoder_resolve(d, &d->events, &d->plane->event_names, wire->id, &event.name);

	if (rc)
		return rc;
	set_times(&event, wire, base_ns);
	event.stats = plane_add_stats(d->plane, d->list, d->n_list);
	if (d->n_list && !event.stats)
		return decoder_fail_memory(d);
	return line_add_event(line, &event) ? decoder_fail_memory(d) : 0;
}

static int decode_event(
	struct decoder *d, const struct pb_field *message, struct line *line, int64_t base_ns)
{
	struct pb_reader r = pb_enter(message);
	struct wire_event wire = {0};
	struct pb_field f = {0};
	int rc;

	d->n_list = 0;
	while ((rc = pb_next(&r, &f)) > 0) {
		rc = decode_event_field(d, &f, &wire);
		if (rc < 0)
			return rc;
	}
	rc = decoder_finish(d, &r, rc, "an event");
	if (rc)
		return rc;
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

static int decode_line_header(
	struct decoder *d, const struct pb_field *message, struct line_header *h)
{
	struct pb_reader r = pb_enter(message);
	struct pb_field f = {0};
	int rc;

	while ((rc = pb_next(&r, &f)) > 0) {
		if (f.tag == PB_TAG(1, PB_VARINT))
			h->id = (int64_t)f.value;
		else if (f.tag == PB_TAG(2, PB_LEN))
			h->name = f;
		else if (f.tag == PB_TAG(3, PB_VARINT))
			h->timestamp_ns = (int64_t)f.value;
		else if (f.tag == PB_TAG(4, PB_LEN))
			h->n_events++;
		else if (f.tag == PB_TAG(11, PB_LEN))
			h->display_name = f;
	}
	return decoder_finish(d, &r, rc, "a line");
}

/* A terminated copy; NULL when memory ran out. */
static char *copy_text(const struct pb_field *f)
{
	return f->n_bytes ? strndup((const char *)f->data, f->n_bytes) : strdup("");
}

static struct line *new_line(struct decoder *d, const struct line_header *h)
{
	_cleanup_free_ char *name = copy_text(h->name.n_bytes ? &h->name : &h->display_name);

	return name ? plane_add_line(d->plane, h->id, name, h->n_events) : NULL;
}

static int decode_line(struct decoder *d, const struct pb_field *message)
{
	struct pb_reader r = pb_enter(message);
	struct line_header h = {0};
	struct pb_field f = {0};
	struct line *line;
	int rc = decode_line_header(d, message, &h);

	if (rc)
		return rc;
	line = new_line(d, &h);
	if (!line)
		return decoder_fail_memory(d);
	while ((rc = pb_next(&r, &f)) > 0) {
		if (f.tag != PB_TAG(4, PB_LEN))
			continue;
		rc = decode_event(d, &f, line, h.timestamp_ns);
		if (rc < 0)
			return rc;
	}
	line_sort(line);
	return 0;
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
	struct pb_reader r = pb_enter(message);
	struct pb_field f = {0};
	int rc;

	while ((rc = pb_next(&r, &f)) > 0) {
		if (f.tag == PB_TAG(2, PB_LEN))
			m->name = f;
	}
	return decoder_finish(d, &r, rc, "a metadata value");
}

/* The map's entry: {key = 1, value = 2}. The key counts; the id inside is a copy of it. */
static int decode_metadata(
	struct decoder *d, const struct pb_field *message, struct idmap *map, struct names *names)
{
	struct pb_reader r = pb_enter(message);
	struct metadata m = {0};
	struct pb_field f = {0};
	uint32_t index;
	int rc;

	while ((rc = pb_next(&r, &f)) > 0) {
		if (f.tag == PB_TAG(1, PB_VARINT))
			m.id = (int64_t)f.value;
		else if (f.tag == PB_TAG(2, PB_LEN))
			rc = decode_metadata_value(d, &f, &m);
		if (rc < 0)
			return rc;
	}
	rc = decoder_finish(d, &r, rc, "a metadata entry");
	if (rc == 0)
		rc = decoder_intern(d, names, &m.name, &index);
	if (rc)
		return rc;
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
		d->plane->name = copy_text(f);
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
		return decoder_read_plane_stat(d, f);
	}
	return 0;
}

static int walk_plane(struct decoder *d, const struct pb_field *message,
	int (*decode)(struct decoder *, const struct pb_field *))
{
	struct pb_reader r = pb_enter(message);
	struct pb_field f = {0};
	int rc;

	while ((rc = pb_next(&r, &f)) > 0) {
		rc = decode(d, &f);
		if (rc < 0)
			return rc;
	}
	return decoder_finish(d, &r, rc, "a plane");
}

static int decode_plane(struct decoder *d, const struct pb_field *message)
{
	int rc;

	d->plane = space_add_plane(d->space, 0, "");
	if (!d->plane)
		return decoder_fail_memory(d);
	rc = walk_plane(d, message, decode_plane_field);
	idmap_sort(&d->events);
	idmap_sort(&d->stats);
	if (rc == 0)
		rc = walk_plane(d, message, decode_plane_part);
	idmap_deinit(&d->events);
	idmap_deinit(&d->stats);
	return rc;
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

static int decode_space(struct decoder *d, size_t n_bytes)
{
	struct pb_reader r = pb_reader(d->data, n_bytes);
	struct pb_field f = {0};
	int rc;

	while ((rc = pb_next(&r, &f)) > 0) {
		rc = decode_space_field(d, &f);
		if (rc < 0)
			return rc;
	}
	rc = decoder_finish(d, &r, rc, "the space");
	if (rc == 0 && d->n_aggregated &&
		space_add_warning(d->space, "%llu aggregated events have no time and are left out",
			(unsigned long long)d->n_aggregated))
		rc = decoder_fail_memory(d);
	return rc;
}

int xspace_decode(const uint8_t *data, size_t n_bytes, struct space **out, struct diag *diag)
{
	_cleanup_(space_freep) struct space *space = NULL;
	struct decoder d = {.data = data, .diag = diag};
	int rc;

	if (space_new(&space))
		return decoder_fail_memory(&d);
	d.space = space;
	rc = decode_space(&d, n_bytes);
	free(d.list);
	if (rc)
		return rc;
	*out = space;
	space = NULL;
	return 0;
}
