/* SPDX-License-Identifier: Apache-2.0 */
/*
 * XSpace bytes -> space; see xspace.h. One function per message; lines and events are those of
 * xspace_decode_line.c. Planes and lines are read twice: once for what their parts refer to
 * (metadata, line header), which may stand behind those parts, and once for the parts.
 *
 * What the model has no place for is left out: stats, display names and children of event
 * metadata, descriptions of stats, and aggregated events (num_occurrences), which have no time; a
 * warning counts those. A line without a name gets its display name. An id without metadata is
 * called "?<id>".
 */
#include "trace/xspace/xspace.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "trace/model/space.h"
#include "trace/xspace/pbwire.h"
#include "trace/xspace/xspace_decoder.h"

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
		return decoder_read_line(d, f);
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

int decoder_read_space(struct decoder *d, size_t n_bytes)
{
	struct pb_reader r = pb_reader(d->data, n_bytes);
	struct pb_field f = {0};
	int rc;

	while ((rc = pb_next(&r, &f)) > 0) {
		rc = decode_space_field(d, &f);
		if (rc < 0)
			break;
	}
	if (rc == 0 || r.error)
		rc = decoder_finish(d, &r, rc, "the space");
	if (rc == 0 && d->n_aggregated &&
		space_add_warning(d->space, "%llu aggregated events have no time and are left out",
			(unsigned long long)d->n_aggregated))
		rc = decoder_fail_memory(d);
	free(d->list);
	d->list = NULL;
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
	rc = decoder_read_space(&d, n_bytes);
	if (rc)
		return rc;
	*out = space;
	space = NULL;
	return 0;
}
