/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clock stamps; see clock_stamp.h. A plane of the same name at the end of the file would do for protobuf, and not for
 * viewers, which take the first (XProf) or the last (who makes a dictionary of them). So the plane itself grows: fields may be
 * appended to a message, and what is behind it in the file, a few warnings where a server of ours made it, moves.
 */
#include "client/clock_stamp.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/file_io.h"
#include "client/answer.h"
#include "client/clock_offset.h"
#include "trace/pbwire.h"
#include "trace/run_dir.h"
#include "trace/space.h"

#define XSPACE_PLANES 1
#define XPLANE_NAME 2
#define XPLANE_STAT_METADATA 5
#define XPLANE_STATS 6
#define XSTAT_METADATA_ID 1
#define XSTAT_INT64_VALUE 4

/* Ids must be new in the plane: servers number from 1, and have a handful. */
#define FIRST_ID 1000001
/* Each stat: its name, twice an id, and a value. */
#define STAMP_MAX_BYTES 256

struct stamp {
	uint8_t bytes[STAMP_MAX_BYTES];
	uint8_t *end;
};

static uint8_t *put_len(uint8_t *p, uint32_t number, const void *data, size_t n)
{
	p = pb_put_varint(pb_put_varint(p, PB_TAG(number, PB_LEN)), n);
	memcpy(p, data, n);
	return p + n;
}

/* One XPlane.stat_metadata entry and one XPlane.stats. */
static void add_stat(struct stamp *s, uint64_t id, const char *name, int64_t value)
{
	uint8_t metadata[64];
	uint8_t entry[80];
	uint8_t stat[32];
	uint8_t *p;

	p = pb_put_uint(metadata, 1, id);
	p = put_len(p, 2, name, strlen(name));
	p = put_len(pb_put_uint(entry, 1, id), 2, metadata, (size_t)(p - metadata));
	s->end = put_len(s->end, XPLANE_STAT_METADATA, entry, (size_t)(p - entry));
	p = pb_put_uint(stat, XSTAT_METADATA_ID, id);
	p = pb_put_uint(p, XSTAT_INT64_VALUE, (uint64_t)value);
	s->end = put_len(s->end, XPLANE_STATS, stat, (size_t)(p - stat));
}

static bool has_name(const struct pb_field *plane, const char *name)
{
	struct pb_reader reader = pb_enter(plane);
	struct pb_field field;

	while (pb_next(&reader, &field) > 0)
		if (field.tag == PB_TAG(XPLANE_NAME, PB_LEN))
			return field.n_bytes == strlen(name) &&
			       memcmp(field.data, name, field.n_bytes) == 0;
	return false;
}

/* The plane's field, and *start, where its tag is. */
static bool find_plane(const struct answer *a, const uint8_t **start, struct pb_field *plane)
{
	struct pb_reader reader = pb_reader(a->trace, a->trace ? a->xspace_bytes : 0);

	*start = reader.p;
	while (pb_next(&reader, plane) > 0) {
		if (plane->tag == PB_TAG(XSPACE_PLANES, PB_LEN) &&
			has_name(plane, PLANE_ENVIRONMENT))
			return true;
		*start = reader.p;
	}
	return false;
}

/* What follows the plane's first byte in the new file: the plane, longer, and what was behind it. malloc'ed. */
static uint8_t *make_tail(const struct answer *a, const struct pb_field *plane,
	const struct stamp *stamp, size_t *n_out)
{
	size_t n_stamp = (size_t)(stamp->end - stamp->bytes);
	const uint8_t *rest = plane->data + plane->n_bytes;
	size_t n_rest = (size_t)(a->trace + a->xspace_bytes - rest);
	uint8_t *tail = malloc(2 * PB_VARINT_MAX_BYTES + plane->n_bytes + n_stamp + n_rest);
	uint8_t *p = tail;

	if (!tail)
		return NULL;
	p = pb_put_varint(p, PB_TAG(XSPACE_PLANES, PB_LEN));
	p = pb_put_varint(p, plane->n_bytes + n_stamp);
	memcpy(p, plane->data, plane->n_bytes);
	memcpy(p + plane->n_bytes, stamp->bytes, n_stamp);
	memcpy(p + plane->n_bytes + n_stamp, rest, n_rest);
	*n_out = (size_t)(p - tail) + plane->n_bytes + n_stamp + n_rest;
	return tail;
}

int clock_stamp_write(
	struct answer *a, const struct clock_offset *offset, uint64_t *file_bytes, struct diag *d)
{
	struct stamp stamp = {.end = stamp.bytes};
	_cleanup_free_ uint8_t *tail = NULL;
	const uint8_t *start;
	struct pb_field plane;
	size_t n_tail;
	int r;

	if (!find_plane(a, &start, &plane))
		return 0;
	add_stat(&stamp, FIRST_ID, "proftap_clock_offset_ns", offset->offset_ns);
	add_stat(&stamp, FIRST_ID + 1, "proftap_clock_uncertainty_ns", offset->uncertainty_ns);
	tail = make_tail(a, &plane, &stamp, &n_tail);
	if (!tail)
		return diag_set(d, -ENOMEM, "%s: out of memory", a->target);
	*file_bytes = (uint64_t)(start - a->trace) + n_tail;
	r = file_write_at(a->run_dir->fd, tail, n_tail, (uint64_t)(start - a->trace));
	if (r < 0)
		diag_set(d, r, "%s: cannot write the trace: %s", a->run_dir->path, errno_words(r));
	return r;
}
