/* SPDX-License-Identifier: Apache-2.0 */
/* Making a trace shorter; see shorten.h. */
#include "daemon/pipeline/assembly/shorten.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "daemon/pipeline/assembly/track.h"
#include "trace/model/space.h"

/* A run that may be left out. */
struct old {
	int64_t at_ns; /* the start of its last event */
	int64_t end_ns; /* the latest end of its events */
	struct plane *plane;
	struct line *line;
	uint32_t n_bytes;
};

struct old_runs {
	struct old *v;
	size_t n;
	size_t n_allocated;
};

static int add_line(struct old_runs *all, struct plane *plane, struct line *line)
{
	const struct track *track = line->store;

	if (!track)
		return 0;
	if (grow(&all->v, &all->n_allocated, all->n + track->n_runs))
		return -ENOMEM;
	for (size_t i = 0; i < track->n_runs; i++) {
		const struct run *run = &track->runs[i];

		all->v[all->n++] =
			(struct old){run->last.start_ns, run->end_ns, plane, line, run->n_bytes};
	}
	return 0;
}

static int collect(struct space *space, struct old_runs *all)
{
	int r = 0;

	for (size_t i = 0; i < space->n_planes; i++)
		for (size_t j = 0; j < space->planes[i]->n_lines && !r; j++)
			r = add_line(all, space->planes[i], &space->planes[i]->lines[j]);
	return r;
}

static int compare(const void *left, const void *right)
{
	const struct old *a = left;
	const struct old *b = right;

	return a->at_ns < b->at_ns ? -1 : a->at_ns > b->at_ns;
}

/*
 * Drops the first run of the line: runs follow one another, so the oldest of all lines is the first
 * that its line still has.
 */
static uint64_t drop_first(struct line *line)
{
	struct track *track = (struct track *)line->store;
	uint64_t n = track_drop_oldest(track);

	line->n_stored = track->n_events;
	line->stored_bytes = track->n_bytes;
	return n;
}

/* The Unix time at which the space's time is 0; 0: it is not known. */
static int64_t find_epoch(const struct space *space)
{
	for (size_t i = 0; i < space->n_planes; i++)
		if (strcmp(space->planes[i]->name, PLANE_ENVIRONMENT) == 0)
			return plane_find_int(space->planes[i], "profile_start_time");
	return 0;
}

/*
 * Notes that |plane| is complete only after |end_ns|, when the event ended that it lost, unless it
 * notes a later time already.
 */
static int note_complete(struct plane *plane, int64_t epoch_ns, int64_t end_ns)
{
	int64_t since_ns = epoch_ns + end_ns + 1;

	if (!epoch_ns || plane_find_int(plane, "ptap_complete_since_ns") >= since_ns)
		return 0;
	return plane_set_uint(plane, "ptap_complete_since_ns", (uint64_t)since_ns);
}

int shorten(struct space *space, uint64_t n_bytes, struct shortened *out)
{
	struct old_runs all = {NULL, 0, 0};
	int64_t epoch_ns = find_epoch(space);
	uint64_t dropped_bytes = 0;
	int r = collect(space, &all);

	if (!r && all.n)
		qsort(all.v, all.n, sizeof *all.v, compare);
	for (size_t i = 0; i < all.n && !r && dropped_bytes < n_bytes; i++) {
		const struct old *old = &all.v[i];

		out->n_events += drop_first(old->line);
		if (old->end_ns > out->until_ns)
			out->until_ns = old->end_ns;
		dropped_bytes += old->n_bytes;
		r = note_complete(old->plane, epoch_ns, old->end_ns);
	}
	free(all.v);
	return r;
}
