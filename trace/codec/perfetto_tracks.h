/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tracks of a Perfetto trace. A process has a track, which groups the tracks of its threads,
 * streams, async spans and counters. Ids are small numbers, since they are written often: first
 * those of processes, from 1 on, then those of the view's tracks and of threads with samples, then
 * those of lanes and counters
 * that the events need.
 */
#ifndef TRACE_CODEC_PERFETTO_TRACKS_H
#define TRACE_CODEC_PERFETTO_TRACKS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/read/view.h"

struct perfetto;

/* Describes the processes and tracks of the view. 0 or a negative errno. */
int perfetto_put_tracks(struct perfetto *w);
/*
 * These describe one more row for spans of |track|, or a counter of its process. They return its
 * id, or a negative errno.
 */
int64_t perfetto_put_lane(struct perfetto *w, const struct view_track *track);
int64_t perfetto_put_counter(struct perfetto *w, const struct view_track *track, const char *name);

static inline uint64_t perfetto_process_uuid(uint32_t process)
{
	return (uint64_t)process + 1;
}

/*
 * Returns the id of the track's first lane; each counter of a counter track has an id of its own
 * instead.
 */
static inline uint64_t perfetto_track_uuid(const struct view *v, const struct view_track *track)
{
	return (uint64_t)v->n_processes + view_track_get_number(v, track) + 1;
}

/* Returns the sequence of a track, which may be one of samples. */
static inline uint32_t perfetto_sequence(const struct view *v, const struct view_track *track)
{
	return (uint32_t)view_track_get_number(v, track) + 1;
}

/* --- units of counters ------------------------------------------------------------------------ */

struct perfetto_unit {
	const char *name; /* last word of the counter's name */
	uint32_t number; /* value of CounterDescriptor.Unit; 0: it has none, and shows |name| */
};

/*
 * Finds the unit in a name such as "process rss MiB", "queue_bytes" or "latency (us)". NULL: there
 * is none.
 */
const struct perfetto_unit *perfetto_find_unit(const char *name);

#endif
