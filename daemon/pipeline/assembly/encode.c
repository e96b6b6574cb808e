/* SPDX-License-Identifier: Apache-2.0 */
/* Encoding of a trace; see encode.h. */
#include "daemon/pipeline/assembly/encode.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/assembly/track.h"
#include "trace/model/space.h"
#include "trace/xspace/xspace.h"

/* Room for the warning that events are left out. */
#define WARNING_BYTES 1024

/* --- leaving out the oldest runs ---------------------------------------------------------- */

/* The events that were left out. */
struct shortened {
	uint64_t n_events;
	int64_t until_ns; /* the time at which the last of them ended */
};

/* A run that may be left out. */
struct old_run {
	int64_t at_ns; /* the start of its last event */
	int64_t end_ns; /* the latest end of its events */
	struct plane *plane;
	struct line *line;
	uint32_t n_bytes;
};

struct old_runs {
	struct old_run *v;
	size_t n;
	size_t n_allocated;
};

static int add_old_runs(struct old_runs *all, struct plane *plane, struct line *line)
{
	const struct track *track = line->store;

	if (!track)
		return 0;
	if (grow(&all->v, &all->n_allocated, all->n + track->n_runs))
		return -ENOMEM;
	for (size_t i = 0; i < track->n_runs; i++) {
		const struct track_run *run = &track->runs[i];

		all->v[all->n++] = (struct old_run){
			run->last.start_ns, run->end_ns, plane, line, run->n_bytes};
	}
	return 0;
}

static int collect_old_runs(struct space *space, struct old_runs *all)
{
	int r = 0;

	for (size_t i = 0; i < space->n_planes; i++)
		for (size_t j = 0; j < space->planes[i]->n_lines && !r; j++)
			r = add_old_runs(all, space->planes[i], &space->planes[i]->lines[j]);
	return r;
}

static int compare_old_runs(const void *left, const void *right)
{
	const struct old_run *a = left;
	const struct old_run *b = right;

	return a->at_ns < b->at_ns ? -1 : a->at_ns > b->at_ns;
}

/*
 * Drops the first run of the line. As runs of a line follow one another, the oldest run of all
 * lines is always the first of those that its line still has.
 */
static uint64_t drop_first_run(struct line *line)
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
 * Notes in |plane| that it is complete only after |end_ns|, the end of an event that was dropped,
 * unless it already has a later time.
 */
static int note_complete(struct plane *plane, int64_t epoch_ns, int64_t end_ns)
{
	int64_t since_ns = epoch_ns + end_ns + 1;

	if (!epoch_ns || plane_find_int(plane, "ptap_complete_since_ns") >= since_ns)
		return 0;
	return plane_set_uint(plane, "ptap_complete_since_ns", (uint64_t)since_ns);
}

/*
 * Leaves out runs of the tracks of all lines of |space|, the oldest first, until the dropped runs
 * have |n_bytes| or more, or no run is left. Sets the stat ptap_complete_since_ns (windows.h) of
 * each plane that lost a run. |out| is zero before. 0 or -ENOMEM.
 */
static int drop_oldest_runs(struct space *space, uint64_t n_bytes, struct shortened *out)
{
	struct old_runs all = {NULL, 0, 0};
	int64_t epoch_ns = find_epoch(space);
	uint64_t dropped_bytes = 0;
	int r = collect_old_runs(space, &all);

	if (!r && all.n)
		qsort(all.v, all.n, sizeof *all.v, compare_old_runs);
	for (size_t i = 0; i < all.n && !r && dropped_bytes < n_bytes; i++) {
		const struct old_run *old = &all.v[i];

		out->n_events += drop_first_run(old->line);
		if (old->end_ns > out->until_ns)
			out->until_ns = old->end_ns;
		dropped_bytes += old->n_bytes;
		r = note_complete(old->plane, epoch_ns, old->end_ns);
	}
	free(all.v);
	return r;
}

/* --- encoding ----------------------------------------------------------------------------- */

/* Encodes everything but the events in the spool, and notes the gaps into which these belong. */
static int encode_frame(
	const struct encode_request *request, struct chunks *frame, struct xspace_gaps *gaps)
{
	int r;

	frame->cancel = request->cancel;
	r = xspace_encode_around(request->space, frame, gaps);
	frame->cancel = NULL;
	return r;
}

static int make_delivery(const struct encode_request *request, struct chunks *frame,
	const struct xspace_gaps *gaps, struct delivery **out)
{
	return gaps->n ? delivery_new_from_spool(frame, gaps, request->spool, out)
		       : delivery_new_from_chunks(frame, out);
}

static int add_warning(struct space *space, const struct shortened *cut)
{
	return space_add_warning(space,
		"%" PRIu64
		" events of the first %.3f s are left out: the whole trace is larger than "
		"this client can take (2 GiB); it is complete from then on; use proftap capture, or "
		"record less",
		cut->n_events, (double)cut->until_ns / 1e9);
}

/* Leaves out the oldest runs, so that the client can take the trace. */
static int fit_client(const struct encode_request *request, uint64_t n_bytes, uint64_t *n_left_out)
{
	struct shortened cut = {.n_events = 0};
	int r = drop_oldest_runs(
		request->space, n_bytes + WARNING_BYTES - request->max_bytes, &cut);

	*n_left_out = cut.n_events;
	return !r && cut.n_events ? add_warning(request->space, &cut) : r;
}

int encode(const struct encode_request *request, struct delivery **out, uint64_t *n_left_out)
{
	_cleanup_(xspace_gaps_deinit) struct xspace_gaps gaps = {NULL, 0, 0, 0};
	_cleanup_(chunks_deinit) struct chunks frame = CHUNKS_INIT;
	int r = encode_frame(request, &frame, &gaps);
	uint64_t n_bytes = frame.total_bytes + gaps.n_bytes;

	*n_left_out = 0;
	if (!r && request->max_bytes && n_bytes > request->max_bytes) {
		r = fit_client(request, n_bytes, n_left_out);
		chunks_deinit(&frame);
		xspace_gaps_deinit(&gaps);
		if (!r)
			r = encode_frame(request, &frame, &gaps);
	}
	return r ? r : make_delivery(request, &frame, &gaps, out);
}
