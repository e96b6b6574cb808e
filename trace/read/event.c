/* SPDX-License-Identifier: Apache-2.0 */
/* Reads events and stats, and finds their names. */
#include "trace/read/event.h"

#include <errno.h>
#include <string.h>

#include "base/grow.h"
#include "trace/xspace/wire.h"

static const char *find_reference(const struct archive_plane *plane, int64_t id)
{
	uint32_t index = idmap_find(&plane->stats, id);

	return index == IDMAP_NONE ? "" : names_get(&plane->stat_names, index);
}

static void stat_set_text(
	const struct archive_plane *plane, const struct wire_stat *wire, struct archive_stat *stat)
{
	if (wire->is_reference) {
		stat->text = find_reference(plane, wire->reference);
		stat->n_bytes = strlen(stat->text);
	} else {
		stat->text = wire->n_bytes ? (const char *)wire->data : "";
		stat->n_bytes = wire->n_bytes;
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
	struct archive_stats *stats, struct wire_fault *fault)
{
	struct archive_stat stat = {0};
	struct wire_stat wire;

	if (wire_stat_read(field, &wire, fault))
		return -EBADMSG;
	if (!wire.type)
		return 0;
	stat.key = idmap_find(&plane->stats, wire.key);
	if (stat.key == IDMAP_NONE) {
		stats->n_keyless++;
		return 0;
	}
	stat.type = wire.type;
	stat.value.u64 = wire.value.u64;
	if (wire.type == STAT_STRING || wire.type == STAT_BYTES)
		stat_set_text(plane, &wire, &stat);
	return stats_append(stats, &stat);
}

int event_read(const struct archive_plane *plane, int64_t base_ns, const struct pb_field *field,
	struct archive_event *out, struct archive_stats *stats, struct wire_fault *fault)
{
	struct pb_reader reader = pb_enter(field);
	struct wire_event wire = {0};
	struct pb_field stat;
	int r;

	while ((r = wire_event_next_stat(&reader, &wire, &stat, fault)) > 0) {
		r = stats ? stat_read(plane, &stat, stats, fault) : 0;
		if (r)
			return r;
	}
	if (r < 0)
		return r;
	out->start_ns = wire_event_find_start(&wire, base_ns, &out->duration_ns);
	out->has_duration = wire.has_duration;
	out->id = wire.id;
	out->name = idmap_find(&plane->events, wire.id);
	out->is_aggregated = wire.is_aggregated;
	return 0;
}

/* True if |stat|, which is a flag, is set: it is an integer above 0. */
static bool stat_is_set(const struct archive_stat *stat)
{
	return (stat->type == STAT_UINT64 && stat->value.u64) ||
	       (stat->type == STAT_INT64 && stat->value.i64 > 0);
}

struct event_marks event_find_marks(
	const struct archive_plane *plane, const struct archive_stats *stats)
{
	struct event_marks m = {.is_step = false};
	uint32_t seen = 0; /* bit mask of roles */

	for (size_t i = 0; i < stats->n; i++) {
		enum archive_role role = plane->roles[stats->v[i].key];

		/* If several stats have the same name, the first one counts. */
		if (role == ROLE_UNFINISHED && !(seen >> role & 1))
			m.is_unfinished = stat_is_set(&stats->v[i]);
		else if (role == ROLE_ASYNC && !(seen >> role & 1))
			m.is_async = stat_is_set(&stats->v[i]);
		seen |= UINT32_C(1) << role;
	}
	m.is_step = (seen >> ROLE_ROOT & 1) && (seen >> ROLE_STEP_NUM & 1);
	m.has_flow = (seen >> ROLE_PRODUCER & 1) || (seen >> ROLE_CONSUMER & 1);
	return m;
}
