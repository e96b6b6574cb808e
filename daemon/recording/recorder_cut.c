/* SPDX-License-Identifier: Apache-2.0 */
/* What the flight recorder holds at one instant, as a part of a recording; see recorder.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/drain/drain.h"
#include "daemon/drain/drain_cut.h"
#include "daemon/drain/ring_notes.h"
#include "daemon/drain/ring_picture.h"
#include "daemon/drain/rings.h"
#include "daemon/drain/thread_window.h"
#include "daemon/recording/recorder.h"
#include "daemon/recording/recording_cut.h"
#include "daemon/recording/source.h"
#include "daemon/target/target.h"

/* Where the ticks were that many ns before |stop|; 0: before the recording. */
static uint64_t find_from(const struct recording *part, uint64_t last_ms)
{
	struct clock_pair start = part->start;
	struct clock_pair stop = part->stop;
	int64_t length_ns = stop.monotonic_ns - start.monotonic_ns;

	if (!last_ms)
		return 0;
	if (last_ms >= (uint64_t)(length_ns / NS_PER_MS))
		return start.ticks;
	return stop.ticks - (uint64_t)((double)last_ms * NS_PER_MS / (double)length_ns *
				       (double)(stop.ticks - start.ticks));
}

/* Before anything is looked at: while memory is made, the thread writes on. */
static void make_room(struct thread_log *log, struct ring *ring, const struct source *s)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	thread_log_make_room(
		log, head < s->target->n_slots ? head : s->target->n_slots, s->drain.budget);
}

static int take_picture(struct source *s, uint32_t i, uint64_t from_ticks)
{
	struct thread_log *log;
	uint32_t word = atomic_load(&s->target->arena->word);
	int r = thread_log_new(s->drain.budget, &log);

	if (r) {
		s->drain.lost_memory += r == THREAD_LOG_FULL;
		return r;
	}
	make_room(log, target_ring(s->target, i), s);
	r = ring_picture_take(s->target, i, word, s->drain.budget, log);
	if (r > 0) {
		s->drain.n_broken += r == RING_PICTURE_BROKEN;
		thread_log_free(log);
		return 0;
	}
	if (ring_notes_tell(s->target, i, log, ring_notes_now(s->target), s->drain.budget))
		r = -ENOMEM;
	thread_window_limit(log, from_ticks, s->drain.budget);
	return drain_take_log(&s->drain, log) || r == -ENOMEM ? -ENOMEM : 0;
}

static int take_pictures(struct source *s, uint64_t from_ticks)
{
	int error = 0;

	for (uint32_t i = 0; i < s->target->n_rings; i++)
		if (rings_is_used(s->target, i) && take_picture(s, i, from_ticks) == -ENOMEM)
			error = -ENOMEM;
	return error;
}

static int cut_source(
	const struct recorder *r, size_t i, struct recording *part, uint64_t from_ticks)
{
	const struct source *of = r->recording.sources[i];
	struct source *s;
	int error = source_new(of->target, &part->budget, &part->sources[i]);

	if (error)
		return error;
	s = part->sources[i];
	part->n_sources++;
	s->state = SOURCE_ENDED;
	s->drain.is_picture = 1;
	s->drain.asked_ticks = from_ticks;
	s->drain.lost_no_ring =
		atomic_load(&of->target->arena->lost_no_ring) - of->drain.lost_no_ring_before;
	error = ended_threads_copy(r->ended_of[i], &s->drain, from_ticks);
	s->drain.n_ended = s->drain.n_logs;
	if (i == 0)
		ended_sums_tell(&r->gone, &s->drain);
	if (of->state != SOURCE_ENDED && take_pictures(s, from_ticks))
		error = -ENOMEM;
	return error;
}

/* Before it nothing is complete, and nothing is missing that anybody asked for. */
static void find_window(struct recording *part, uint64_t from_ticks)
{
	uint64_t window = from_ticks ? from_ticks : part->stop.ticks;

	for (size_t i = 0; i < part->n_sources && !from_ticks; i++) {
		const struct drain *d = &part->sources[i]->drain;

		for (size_t k = 0; k < d->n_logs; k++)
			if (d->logs[k]->window_ticks && d->logs[k]->window_ticks < window)
				window = d->logs[k]->window_ticks;
	}
	part->window_ns = timeline_convert(&part->timeline, window);
}

static void set_times(struct recording *part)
{
	part->end_ns = part->stop.monotonic_ns;
	part->settled_ticks = UINT64_MAX;
	/* Whatever became of the clock of days since the recorder was turned on. */
	part->start_unix_ns = realtime_ns() - (monotonic_ns() - part->start.monotonic_ns);
}

int recorder_cut(struct recorder *r, uint64_t last_ms, struct recording *part)
{
	int error = r->recording.error;
	uint64_t from_ticks;

	*part = r->recording;
	part->sources = calloc(r->recording.n_sources, sizeof(struct source *));
	part->n_sources = part->n_allocated = 0;
	/* For the rings do not wait: what is to be spooled is so afterwards. */
	part->budget.window_bytes = 0;
	part->stop = r->frozen.ticks ? r->frozen : ring_picture_now(part->uses_ticks);
	set_times(part);
	from_ticks = find_from(part, last_ms);
	if (timeline_copy(&r->recording.timeline, &part->timeline) ||
		timeline_add(&part->timeline, part->stop) || !part->sources)
		return part->error = -ENOMEM;
	for (size_t i = 0; i < r->recording.n_sources; i++)
		if (cut_source(r, i, part, from_ticks))
			error = -ENOMEM;
	find_window(part, from_ticks);
	r->recording.error = 0;
	return part->error = error;
}
