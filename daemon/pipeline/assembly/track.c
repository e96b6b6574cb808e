/* SPDX-License-Identifier: Apache-2.0 */
/* A line in parts; see track.h. */
#include "daemon/pipeline/assembly/track.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/grow.h"
#include "daemon/kernel/memory_budget.h"
#include "daemon/pipeline/assembly/spool.h"
#include "trace/xspace/xspace_events.h"

#define RUN_BYTES (32u << 10)
#define SLICE_EVENTS 256 /* after so many it is asked whether the run is long enough */

static void track_free(void *track)
{
	struct track *t = track;

	free(t->runs);
	stragglers_deinit(&t->stragglers);
	launch_stack_deinit(&t->calls);
	free(t);
}

struct track *track_new(struct spool *spool)
{
	struct track *t = calloc(1, sizeof *t);

	if (t && spool_own(spool, t, track_free)) {
		free(t);
		return NULL;
	}
	return t;
}

/* --- stragglers ---------------------------------------------------------------------------- */

/* Whether |event|, recorded later, belongs before |last|: also when it holds it and is as long. */
static bool is_late(const struct trace_event *event, const struct trace_event *last)
{
	return event_comes_before(event, last) ||
	       (event->duration_ns > 0 && !event_comes_before(last, event));
}

static size_t count_late(const struct track *t, const struct trace_event *events, size_t n)
{
	size_t i = 0;

	while (t->n_runs && i < n && is_late(&events[i], &t->runs[t->n_runs - 1].last))
		i++;
	return i;
}

static int add_straggler(struct track *t, struct xspace_events *x, const struct trace_event *event,
	struct chunks *room, struct memory_budget *keep)
{
	uint64_t before = room->total_bytes;
	const struct chunk *chunk;
	uint32_t n_bytes;

	if (xspace_events_encode(x, event, 1, room))
		return -ENOMEM;
	n_bytes = (uint32_t)(room->total_bytes - before);
	if (!memory_budget_take(keep, straggler_cost(n_bytes))) {
		t->n_dropped++;
		return 0;
	}
	/* It is whole, at the end of the last chunk. */
	chunk = &room->chunks[room->n_chunks - 1];
	if (stragglers_add(
		    &t->stragglers, event, chunk->data + chunk->used_bytes - n_bytes, n_bytes))
		return -ENOMEM;
	t->n_bytes += n_bytes;
	t->n_events++;
	return 0;
}

static int add_stragglers(struct track *t, struct xspace_events *x,
	const struct trace_event *events, size_t n, struct chunks *room, struct memory_budget *keep)
{
	int r = 0;

	for (size_t i = 0; i < n && !r; i++)
		r = add_straggler(t, x, &events[i], room, keep);
	t->stragglers.round++;
	return r;
}

/* --- runs ---------------------------------------------------------------------------------- */

static int add_run(struct track *t, const struct run *run)
{
	if (grow(&t->runs, &t->n_runs_allocated, t->n_runs + 1))
		return -ENOMEM;
	t->runs[t->n_runs++] = *run;
	return 0;
}

static int64_t find_end(const struct trace_event *events, size_t n)
{
	int64_t end_ns = INT64_MIN;

	for (size_t i = 0; i < n; i++)
		if (events[i].start_ns + events[i].duration_ns > end_ns)
			end_ns = events[i].start_ns + events[i].duration_ns;
	return end_ns;
}

/* One run's events, from |events| on, to the end of |out|; its place is not known yet. */
static int encode_run(struct xspace_events *x, const struct trace_event *events, size_t n,
	struct chunks *out, struct run *run)
{
	uint64_t before = out->total_bytes;

	*run = (struct run){.offset = before};
	while (run->n_events < n && run->n_bytes < RUN_BYTES) {
		size_t left = n - run->n_events;
		size_t slice = left < SLICE_EVENTS ? left : SLICE_EVENTS;

		if (xspace_events_encode(x, events + run->n_events, slice, out))
			return -ENOMEM;
		run->n_events += (uint32_t)slice;
		run->n_bytes = (uint32_t)(out->total_bytes - before);
	}
	run->last = events[run->n_events - 1];
	run->end_ns = find_end(events, run->n_events);
	return 0;
}

/* Those from |first| on are in the spool, behind |offset|; or nowhere. */
static void place_runs(struct track *t, size_t first, uint64_t offset, int error)
{
	for (size_t i = first; i < t->n_runs; i++) {
		struct run *run = &t->runs[i];

		run->offset += offset;
		if (error)
			t->n_dropped += run->n_events;
		else {
			t->n_bytes += run->n_bytes;
			t->n_events += run->n_events;
		}
	}
	if (error)
		t->n_runs = first;
}

static int add_runs(struct track *t, struct xspace_events *x, const struct trace_event *events,
	size_t n, struct spool *spool, struct memory_budget *keep)
{
	struct chunks *out = spool_get_room(spool, xspace_events_max_bytes(x, n));
	size_t first = t->n_runs;
	uint64_t offset = 0;
	size_t done = 0;
	int r = 0;

	while (done < n && !r) {
		struct run run;

		r = encode_run(x, events + done, n - done, out, &run);
		if (!r)
			r = add_run(t, &run);
		if (!r)
			done += run.n_events;
	}
	if (r) {
		t->n_runs = first;
		return r;
	}
	if (memory_budget_take(keep, (t->n_runs - first) * sizeof(struct run)))
		r = spool_append(spool, out, &offset);
	else
		r = -ENOBUFS;
	place_runs(t, first, offset, r);
	return 0;
}

int track_append(struct track *t, struct xspace_events *x, const struct trace_event *events,
	size_t n, struct spool *spool, struct memory_budget *keep)
{
	size_t n_late = count_late(t, events, n);
	int r = add_stragglers(t, x, events, n_late, spool_get_room(spool, SIZE_MAX), keep);

	return r ? r : add_runs(t, x, events + n_late, n - n_late, spool, keep);
}

void track_finish(struct track *t)
{
	stragglers_sort(&t->stragglers);
}

uint64_t track_drop_oldest(struct track *t)
{
	const struct run *run = &t->runs[t->first_run++];

	t->n_bytes -= run->n_bytes;
	t->n_events -= run->n_events;
	return run->n_events;
}
