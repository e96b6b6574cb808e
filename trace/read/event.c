/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads events and stats. Times are rounded as in xspace_decode(): both ends of a span alike, so
 * that nesting stays proper.
 */
#include "trace/read/event.h"

#include <string.h>

#include "base/grow.h"
#include "trace/saturate.h"
#include "trace/xspace/pbwire.h"

static int64_t ps_to_ns(int64_t ps)
{
	int64_t ns = ps / 1000;
	int64_t rest = ps % 1000;

	return ns + (rest >= 500) - (rest < -500);
}

static int event_fail(const struct pb_reader *at, struct pb_reader *bad)
{
	*bad = *at;
	return -EBADMSG;
}

/* --- stats --------------------------------------------------------------------------------- */

static void stat_set_text(
	struct archive_stat *stat, enum stat_type type, const char *text, size_t n)
{
	stat->type = type;
	stat->text = n ? text : "";
	stat->n_bytes = n;
}

static void stat_set_reference(
	const struct archive_plane *plane, struct archive_stat *stat, int64_t id)
{
	uint32_t index = idmap_find(&plane->stats, id);
	const char *text = index == IDMAP_NONE ? "" : names_get(&plane->stat_names, index);

	stat_set_text(stat, STAT_STRING, text, strlen(text));
}

static void stat_set_value(
	const struct archive_plane *plane, const struct pb_field *f, struct archive_stat *stat)
{
	switch (f->tag) {
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
		stat_set_text(stat, STAT_STRING, (const char *)f->data, f->n_bytes);
		return;
	case PB_TAG(6, PB_LEN):
		stat_set_text(stat, STAT_BYTES, (const char *)f->data, f->n_bytes);
		return;
	case PB_TAG(7, PB_VARINT):
		stat_set_reference(plane, stat, (int64_t)f->value);
		return;
	}
}

static int stats_append(struct archive_stats *stats, const struct archive_stat *stat)
{
	if (grow(&stats->v, &stats->n_allocated, stats->n + 1))
		return -ENOMEM;
	stats->v[stats->n++] = *stat;
	return 0;
}

int stat_read(const struct archive_plane *plane, const struct pb_field *field,
	struct archive_stats *stats, struct pb_reader *bad)
{
	struct pb_reader reader = pb_enter(field);
	struct archive_stat stat = {0};
	struct pb_field f;
	int64_t id = 0;
	int r;

	while ((r = pb_next(&reader, &f)) > 0) {
		if (f.tag == PB_TAG(1, PB_VARINT))
			id = (int64_t)f.value;
		else
			stat_set_value(plane, &f, &stat);
	}
	if (r < 0)
		return event_fail(&reader, bad);
	stat.key = idmap_find(&plane->stats, id);
	if (!stat.type)
		return 0;
	if (stat.key == IDMAP_NONE) {
		stats->n_keyless++;
		return 0;
	}
	return stats_append(stats, &stat);
}

/* --- events -------------------------------------------------------------------------------- */

struct archive_wire_event {
	int64_t id;
	int64_t offset_ps;
	int64_t duration_ps;
	bool has_duration;
	bool is_aggregated;
};

static void event_set_times(
	struct archive_event *out, const struct archive_wire_event *wire, int64_t base_ns)
{
	int64_t duration_ps = wire->duration_ps > 0 ? wire->duration_ps : 0;
	int64_t start_ns = ps_to_ns(wire->offset_ps);

	out->duration_ns = ps_to_ns(add_saturated(wire->offset_ps, duration_ps)) - start_ns;
	out->start_ns = add_saturated(base_ns, start_ns);
	out->has_duration = wire->has_duration;
}

static void event_read_field(const struct pb_field *f, struct archive_wire_event *wire)
{
	switch (f->tag) {
	case PB_TAG(1, PB_VARINT):
		wire->id = (int64_t)f->value;
		return;
	case PB_TAG(2, PB_VARINT):
		wire->offset_ps = (int64_t)f->value;
		wire->is_aggregated = false;
		return;
	case PB_TAG(3, PB_VARINT):
		wire->duration_ps = (int64_t)f->value;
		wire->has_duration = true;
		return;
	case PB_TAG(5, PB_VARINT):
		wire->is_aggregated = true;
		return;
	}
}

int event_read(const struct archive_plane *plane, int64_t base_ns, const struct pb_field *field,
	struct archive_event *out, struct archive_stats *stats, struct pb_reader *bad)
{
	struct pb_reader reader = pb_enter(field);
	struct archive_wire_event wire = {0};
	struct pb_field f;
	int r;

	while ((r = pb_next(&reader, &f)) > 0) {
		if (f.tag != PB_TAG(4, PB_LEN)) {
			event_read_field(&f, &wire);
			continue;
		}
		if (!stats)
			continue;
		r = stat_read(plane, &f, stats, bad);
		if (r)
			return r;
	}
	if (r < 0)
		return event_fail(&reader, bad);
	event_set_times(out, &wire, base_ns);
	out->id = wire.id;
	out->name = idmap_find(&plane->events, wire.id);
	out->is_aggregated = wire.is_aggregated;
	return 0;
}
