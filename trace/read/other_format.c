/* SPDX-License-Identifier: Apache-2.0 */
/* Recognizes files of other formats by their first fields. */
#include "trace/read/other_format.h"

#include <stdbool.h>

#include "trace/xspace/pbwire.h"

#define MAX_FIELDS 64 /* fields of a message that are looked at */

#define GZIP "compressed by gzip, not an XSpace; unpack it first (gunzip)"
#define PERFETTO "a Perfetto trace, not an XSpace; give the .xplane.pb that it was made of"
#define PPROF "a pprof profile, not an XSpace; give the .xplane.pb that it was made of"
#define UNKNOWN "not an XSpace: it has fields that none has; give a .xplane.pb"

struct format_evidence {
	bool has_names; /* it has lines or names of events: an XSpace, maybe a newer one */
	bool has_strangers; /* it has fields that no XSpace has */
	bool is_packet;
	bool is_profile;
};

/*
 * Compares a field with those of XPlane, of TracePacket (timestamp, trusted_packet_sequence_id,
 * compressed_packets), and of ValueType (unit).
 */
static void judge_plane_field(struct format_evidence *e, const struct pb_field *f)
{
	switch (f->tag) {
	case PB_TAG(1, PB_VARINT):
	case PB_TAG(2, PB_LEN):
	case PB_TAG(6, PB_LEN):
		return;
	case PB_TAG(3, PB_LEN):
	case PB_TAG(4, PB_LEN):
	case PB_TAG(5, PB_LEN):
		e->has_names = true;
		return;
	}
	e->has_strangers = true;
	e->is_packet = e->is_packet || f->tag == PB_TAG(8, PB_VARINT) ||
		       f->tag == PB_TAG(10, PB_VARINT) || f->tag == PB_TAG(50, PB_LEN);
	e->is_profile = e->is_profile || f->tag == PB_TAG(2, PB_VARINT);
}

static void judge_plane(struct format_evidence *e, const struct pb_field *plane)
{
	struct pb_reader reader = pb_enter(plane);
	struct pb_field f;

	for (int i = 0; i < MAX_FIELDS && !e->has_names && pb_next(&reader, &f) > 0; i++)
		judge_plane_field(e, &f);
}

/* Compares a field with those of XSpace, and of Profile (function, string_table). */
static void judge_field(struct format_evidence *e, const struct pb_field *f)
{
	switch (f->tag) {
	case PB_TAG(1, PB_LEN):
		judge_plane(e, f);
		return;
	case PB_TAG(2, PB_LEN):
	case PB_TAG(3, PB_LEN):
	case PB_TAG(4, PB_LEN):
		return;
	}
	e->has_strangers = true;
	e->is_profile = e->is_profile || f->tag == PB_TAG(5, PB_LEN) || f->tag == PB_TAG(6, PB_LEN);
}

const char *other_format_find(const uint8_t *data, size_t n_bytes)
{
	struct pb_reader reader = pb_reader(data, n_bytes);
	struct format_evidence e = {.has_names = false};
	struct pb_field f;
	int r = 1;

	if (n_bytes >= 2 && data[0] == 0x1f && data[1] == 0x8b)
		return GZIP;
	for (int i = 0; i < MAX_FIELDS && !e.has_names && (r = pb_next(&reader, &f)) > 0; i++)
		judge_field(&e, &f);
	if (e.has_names || !e.has_strangers)
		return NULL;
	if (e.is_packet)
		return PERFETTO;
	if (e.is_profile)
		return PPROF;
	/* The archive's index reports where a broken file is broken */
	return r < 0 ? NULL : UNKNOWN;
}
