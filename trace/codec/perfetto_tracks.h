/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tracks of a Perfetto trace. A process has one, which groups those of its threads, streams, async spans and counters. Ids
 * are small numbers, as they are written often: 1 and up the processes, then the tracks of the view, then what the events
 * turn out to need: lanes and counters.
 */
#ifndef TRACE_CODEC_PERFETTO_TRACKS_H
#define TRACE_CODEC_PERFETTO_TRACKS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/read/view.h"

struct perfetto;

/* Describes what the view has. 0 or a negative errno. */
int perfetto_put_tracks(struct perfetto *w);
/* One more row for spans of |track|, and one for a counter of its process. The id, or a negative errno. */
int64_t perfetto_put_lane(struct perfetto *w, const struct view_track *track);
int64_t perfetto_put_counter(struct perfetto *w, const struct view_track *track, const char *name);

static inline uint64_t perfetto_process_uuid(uint32_t process)
{
	return (uint64_t)process + 1;
}

/* Of the first lane; those of counters have one each instead. */
static inline uint64_t perfetto_track_uuid(const struct view *v, const struct view_track *track)
{
	return (uint64_t)v->n_processes + (uint64_t)(track - v->tracks) + 1;
}

/* Of a track, by its index. */
static inline uint32_t perfetto_sequence(size_t track)
{
	return (uint32_t)track + 1;
}

#endif
