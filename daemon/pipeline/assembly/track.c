/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks; see track.h. */
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
#define SLICE_EVENTS 256 /* encoded before the length of the run is checked again */

/* --- stragglers in memory ----------------------------------------------------------------- */

static void stragglers_deinit(struct stragglers *s)
{
	free(s->v);
	free(s->bytes);
	memset(s, 0, sizeof *s);
}

static int stragglers_add(struct stragglers *s, const struct trace_event *event,
	const uint8_t *bytes, uint32_t n_bytes)
{
	if (grow(&s->v, &s->n_allocated, s->n + 1) ||
		grow(&s->bytes, &s->n_bytes_allocated, s->n_bytes + n_bytes))
		return -ENOMEM;
	s->v[s->n] = (struct straggler){
		.event = *event, .at = s->n_bytes, .n_bytes = n_bytes, .round = s->round};
	memcpy(s->bytes + s->n_bytes, bytes, n_bytes);
	s->n++;
	s->n_bytes += n_bytes;
	return 0;
}

static int compare_stragglers(const void *left, const void *right)
{
	const struct straggler *a = left;
	const struct straggler *b = right;

	if (event_comes_before(&a->event, &b->event))
		return -1;
	if (event_comes_before(&b->event, &a->event))
		return 1;
	if (a->round != b->round)
		return a->round > b->round ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static void stragglers_sort(struct stragglers *s)
{
	if (s->n)
		qsort(s->v, s->n, sizeof *s->v, compare_stragglers);
}

/* Bytes that a straggler takes in memory. */
static uint64_t straggler_cost(uint32_t n_bytes)
{
	return sizeof(struct straggler) + n_bytes;
}

/* --- life --------------------------------------------------------------------------------- */

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

/* --- late events ---------------------------------------------------------------------------- */

/*
 * True when |event|, which was recorded later, belongs before |last|, also when both have the same
 * times and |event| encloses |last|.
 */
static bool event_is_late(const struct trace_event *event, const struct trace_event *last)
{
	return event_comes_before(event, last) ||
	       (event->duration_ns > 0 && !event_comes_before(last, event));
}

static size_t count_late_events(const struct track *t, const struct trace_event *events, size_t n)
{
	size_t i = 0;

	while (t->n_runs && i < n && event_is_late(&events[i], &t->runs[t->n_runs - 1].last))
		i++;
	return i;
}

static int track_add_straggler(struct track *t, struct xspace_events *x,
	const struct trace_event *event, struct chunks *room, struct memory_budget *keep)
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
	/* An event is never split: it lies at the end of the last chunk. */
	chunk = &room->chunks[room->n_chunks - 1];
	if (stragglers_add(
		    &t->stragglers, event, chunk->data + chunk->used_bytes - n_bytes, n_bytes))
		return -ENOMEM;
	t->n_bytes += n_bytes;
	t->n_events++;
	return 0;
}

static int track_add_stragglers(struct track *t, struct xspace_events *x,
	const struct trace_event *events, size_t n, struct chunks *room, struct memory_budget *keep)
{
	int r = 0;

	for (size_t i = 0; i < n && !r; i++)
		r = track_add_straggler(t, x, &events[i], room, keep);
	t->stragglers.round++;
	return r;
}

/* --- runs ---------------------------------------------------------------------------------- */

static int track_add_run(struct track *t, const struct track_run *run)
{
	if (grow(&t->runs, &t->n_runs_allocated, t->n_runs + 1))
		return -ENOMEM;
	t->runs[t->n_runs++] = *run;
	return 0;
}

static int64_t find_latest_end(const struct trace_event *events, size_t n)
{
	int64_t end_ns = INT64_MIN;

	for (size_t i = 0; i < n; i++)
		if (events[i].start_ns + events[i].duration_ns > end_ns)
			end_ns = events[i].start_ns + events[i].duration_ns;
	return end_ns;
}

/* Appends the events of one run to |out|; run->offset is the offset in |out|. */
static int encode_one_run(struct xspace_events *x, const struct trace_event *events, size_t n,
	struct chunks *out, struct track_run *run)
{
	uint64_t before = out->total_bytes;

	*run = (struct track_run){.offset = before};
	while (run->n_events < n && run->n_bytes < RUN_BYTES) {
		size_t left = n - run->n_events;
		size_t slice = left < SLICE_EVENTS ? left : SLICE_EVENTS;

		if (xspace_events_encode(x, events + run->n_events, slice, out))
			return -ENOMEM;
		run->n_events += (uint32_t)slice;
		run->n_bytes = (uint32_t)(out->total_bytes - before);
	}
	run->last = events[run->n_events - 1];
	run->end_ns = find_latest_end(events, run->n_events);
	return 0;
}

/* Adds |offset|, the place in the spool, to the runs from |first| on. Drops these on |error|. */
static void track_place_runs(struct track *t, size_t first, uint64_t offset, int error)
{
	for (size_t i = first; i < t->n_runs; i++) {
		struct track_run *run = &t->runs[i];

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

static int track_add_runs(struct track *t, struct xspace_events *x,
	const struct trace_event *events, size_t n, struct spool *spool, struct memory_budget *keep)
{
	struct chunks *out = spool_get_room(spool, xspace_events_max_bytes(x, n));
	size_t first = t->n_runs;
	uint64_t offset = 0;
	size_t done = 0;
	int r = 0;

	while (done < n && !r) {
		struct track_run run;

		r = encode_one_run(x, events + done, n - done, out, &run);
		if (!r)
			r = track_add_run(t, &run);
		if (!r)
			done += run.n_events;
	}
	if (r) {
		t->n_runs = first;
		return r;
	}
	if (memory_budget_take(keep, (t->n_runs - first) * sizeof(struct track_run)))
		r = spool_append(spool, out, &offset);
	else
		r = -ENOBUFS;
	track_place_runs(t, first, offset, r);
	return 0;
}

int track_append(struct track *t, struct xspace_events *x, const struct trace_event *events,
	size_t n, struct spool *spool, struct memory_budget *keep)
{
	size_t n_late = count_late_events(t, events, n);
	int r = track_add_stragglers(t, x, events, n_late, spool_get_room(spool, SIZE_MAX), keep);

	return r ? r : track_add_runs(t, x, events + n_late, n - n_late, spool, keep);
}

void track_finish(struct track *t)
{
	stragglers_sort(&t->stragglers);
}

uint64_t track_drop_oldest(struct track *t)
{
	const struct track_run *run = &t->runs[t->first_run++];

	t->n_bytes -= run->n_bytes;
	t->n_events -= run->n_events;
	return run->n_events;
}

/* --- reading ------------------------------------------------------------------------------ */

void track_reader_init(struct track_reader *m, const struct track *track, const struct spool *spool)
{
	*m = (struct track_reader){.track = track, .spool = spool, .run = track->first_run};
}

void track_reader_deinit(struct track_reader *m)
{
	free(m->room);
	memset(m, 0, sizeof *m);
}

static const struct straggler *reader_peek_straggler(const struct track_reader *m)
{
	const struct stragglers *s = &m->track->stragglers;

	return m->straggler < s->n ? &s->v[m->straggler] : NULL;
}

/*
 * Takes the rest of the runs that end before |straggler| (NULL: of all runs), as long as
 * they are contiguous.
 */
static void reader_take_runs(
	struct track_reader *m, const struct straggler *straggler, struct track_piece *out)
{
	const struct track *t = m->track;

	for (; m->run < t->n_runs; m->run++) {
		const struct track_run *run = &t->runs[m->run];

		if (straggler && !event_comes_before(&run->last, &straggler->event))
			break;
		if (!out->n_bytes)
			out->offset = run->offset + m->at;
		else if (out->offset + out->n_bytes != run->offset + m->at)
			break;
		out->n_bytes += run->n_bytes - m->at;
		m->at = 0;
	}
}

/* Takes the bytes before |straggler| from the run inside which it belongs. */
static int reader_take_part(
	struct track_reader *m, const struct straggler *straggler, struct track_piece *out)
{
	const struct track_run *run = &m->track->runs[m->run];
	uint32_t left = run->n_bytes - m->at;
	ssize_t n;
	int r;

	if (grow(&m->room, &m->room_bytes, left))
		return -ENOMEM;
	r = spool_read(m->spool, run->offset + m->at, m->room, left);
	if (r)
		return r;
	n = xspace_events_find(m->room, left, &straggler->event);
	if (n < 0)
		return (int)n;
	if (!out->n_bytes)
		out->offset = run->offset + m->at;
	out->n_bytes += (uint64_t)n;
	m->at += (uint32_t)n;
	return 0;
}

/* True when the present run begins where |out| ends. */
static bool reader_is_contiguous(const struct track_reader *m, const struct track_piece *out)
{
	return !out->n_bytes || m->track->runs[m->run].offset + m->at == out->offset + out->n_bytes;
}

/* True when all runs that end before |straggler| were read. */
static bool reader_wants_straggler(const struct track_reader *m, const struct straggler *straggler)
{
	return straggler &&
	       (m->run == m->track->n_runs ||
		       !event_comes_before(&m->track->runs[m->run].last, &straggler->event));
}

static void reader_take_straggler(
	struct track_reader *m, const struct straggler *s, struct track_piece *out)
{
	*out = (struct track_piece){m->track->stragglers.bytes + s->at, 0, s->n_bytes};
	m->straggler++;
}

int track_reader_next(struct track_reader *m, struct track_piece *out)
{
	const struct straggler *straggler = reader_peek_straggler(m);
	int r = 0;

	*out = (struct track_piece){NULL, 0, 0};
	reader_take_runs(m, straggler, out);
	if (reader_wants_straggler(m, straggler) && m->run < m->track->n_runs &&
		reader_is_contiguous(m, out))
		r = reader_take_part(m, straggler, out);
	if (r)
		return r;
	if (!out->n_bytes && straggler)
		reader_take_straggler(m, straggler, out);
	return out->n_bytes > 0;
}
