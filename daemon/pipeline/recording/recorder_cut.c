/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies the records that the flight recorder holds at one instant to a part of a recording; see
 * recorder.h.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/pipeline/drain/drain.h"
#include "daemon/pipeline/drain/drain_cut.h"
#include "daemon/pipeline/drain/ring_notes.h"
#include "daemon/pipeline/drain/ring_picture.h"
#include "daemon/pipeline/drain/rings.h"
#include "daemon/pipeline/drain/shares.h"
#include "daemon/pipeline/drain/thread_window.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/pipeline/recording/recorder.h"
#include "daemon/pipeline/recording/source.h"
#include "daemon/target/family.h"
#include "daemon/target/target.h"

/* The ticks |last_ms| before the part's stop, at least its start's; 0: all records are wanted. */
static uint64_t find_from_ticks(const struct recording *part, uint64_t last_ms)
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

/* The picture of one process that is being made. */
struct process_picture {
	struct source *s; /* of the part; NULL: memory ran out */
	struct thread_log **rooms; /* empty logs with memory, by ring; some are NULL, or all */
};

/* The number of slots of ring |i| that are wanted. */
static uint64_t count_slots(const struct target *t, uint32_t i, uint64_t from_ticks)
{
	uint64_t head = atomic_load_explicit(&target_ring(t, i)->head, memory_order_acquire);
	uint64_t from = ring_notes_find_reach(t, i, from_ticks);

	if (from && from < head && head - from < t->n_slots)
		return head - from;
	return head < t->n_slots ? head : t->n_slots;
}

/* Adds the slots of one process to |shares|. */
static int add_shares(
	const struct recorder *r, size_t i, uint64_t from_ticks, struct shares *shares)
{
	const struct source *of = r->recording.sources[i];
	const struct target *t = of->target;
	int error = ended_threads_add_shares(r->ended_of[i], from_ticks, shares);

	for (uint32_t k = 0; of->state != SOURCE_ENDED && k < t->n_rings && !error; k++)
		if (rings_is_used(t, k))
			error = shares_add(shares, count_slots(t, k, from_ticks),
				open_stack_get_depth(target_ring(t, k)));
	return error;
}

/*
 * Finds the share of each thread. Without memory for this, the threads that are copied first may
 * take everything.
 */
static void find_thread_share(const struct recorder *r, struct recording *part, uint64_t from_ticks)
{
	struct shares shares = {.n = 0};
	int error = 0;

	for (size_t i = 0; i < r->recording.n_sources && !error; i++)
		error = add_shares(r, i, from_ticks, &shares);
	if (!error)
		part->budget.share_slots = shares_find(&shares, part->budget.max_bytes);
	shares_deinit(&shares);
}

static struct thread_log *make_log_with_room(struct source *s, uint32_t i, uint64_t from_ticks)
{
	struct drain_budget *budget = s->drain.budget;
	uint64_t n = count_slots(s->target, i, from_ticks);
	struct thread_log *log;

	if (thread_log_new(budget, &log))
		return NULL;
	thread_log_make_room(log, n < budget->share_slots ? n : budget->share_slots, budget);
	return log;
}

/*
 * Allocates memory before the instant of the picture, because the threads write on meanwhile. Logs
 * without memory get theirs later.
 */
static void make_logs_with_room(struct process_picture *p, uint64_t from_ticks)
{
	const struct target *t = p->s->target;

	p->rooms = calloc(t->n_rings, sizeof(struct thread_log *));
	for (uint32_t i = 0; i < t->n_rings && p->rooms; i++)
		if (rings_is_used(t, i))
			p->rooms[i] = make_log_with_room(p->s, i, from_ticks);
}

static int begin_picture(const struct recorder *r, size_t i, struct recording *part,
	struct process_picture *p, uint64_t from_ticks)
{
	const struct source *of = r->recording.sources[i];
	int error = source_new(of->target, &part->budget, &p->s);

	if (error)
		return error;
	part->sources[part->n_sources++] = p->s;
	p->s->state = SOURCE_ENDED;
	p->s->drain.is_picture = true;
	if (of->state != SOURCE_ENDED)
		make_logs_with_room(p, from_ticks);
	return 0;
}

static void end_picture(struct process_picture *p)
{
	for (uint32_t i = 0; p->rooms && i < p->s->target->n_rings; i++)
		thread_log_free(p->rooms[i]);
	free(p->rooms);
}

/* Sets *out to a log, if possible to one with memory. */
static int take_log(struct process_picture *p, uint32_t i, struct thread_log **out)
{
	if (!p->rooms || !p->rooms[i])
		return thread_log_new(p->s->drain.budget, out);
	*out = p->rooms[i];
	p->rooms[i] = NULL;
	return 0;
}

static int take_picture(struct process_picture *p, uint32_t i, uint64_t from_ticks)
{
	struct source *s = p->s;
	struct thread_log *log;
	uint32_t word = atomic_load(&s->target->arena->word);
	int r = take_log(p, i, &log);

	if (r) {
		s->drain.lost_memory += ring_picture_count(s->target, i, word);
		s->drain.gone_ticks = UINT64_MAX;
		return r;
	}
	log->from = ring_notes_find_reach(s->target, i, from_ticks);
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

static int take_pictures(struct process_picture *p, uint64_t from_ticks)
{
	const struct target *t = p->s->target;
	int r = 0;

	for (uint32_t i = 0; i < t->n_rings; i++)
		if (rings_is_used(t, i) && take_picture(p, i, from_ticks) == -ENOMEM)
			r = -ENOMEM;
	return r;
}

static int fill_picture(
	const struct recorder *r, size_t i, struct process_picture *p, uint64_t from_ticks)
{
	const struct source *of = r->recording.sources[i];
	struct drain *d = &p->s->drain;
	int error;

	d->asked_ticks = from_ticks;
	d->lost_no_ring =
		atomic_load(&of->target->arena->lost_no_ring) - of->drain.lost_no_ring_before;
	error = ended_threads_copy(r->ended_of[i], d, from_ticks);
	d->n_ended = d->n_logs;
	if (i == 0)
		ended_sums_tell(&r->gone, d);
	if (of->state != SOURCE_ENDED && take_pictures(p, from_ticks))
		error = -ENOMEM;
	return error;
}

/* Sets the begin of the part's window: the requested time, or that of the first entry. */
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
	/* This uses the present clock, which may have been set since the recorder was turned on. */
	part->start_unix_ns = realtime_ns() - (monotonic_ns() - part->start.monotonic_ns);
}

/*
 * Begins the pictures of all processes. The threads write on, so slightly more slots will be
 * wanted.
 */
static int begin_pictures(const struct recorder *r, uint64_t last_ms, struct recording *part,
	struct process_picture *pieces)
{
	uint64_t from_ticks;
	int error = 0;

	part->stop = r->frozen.ticks ? r->frozen : clock_pair_read(part->uses_ticks);
	from_ticks = find_from_ticks(part, last_ms);
	find_thread_share(r, part, from_ticks);
	for (size_t i = 0; i < r->recording.n_sources; i++)
		if (begin_picture(r, i, part, &pieces[i], from_ticks))
			error = -ENOMEM;
	return error;
}

static int fill_pictures(struct recorder *r, uint64_t last_ms, struct recording *part,
	struct process_picture *pieces)
{
	uint64_t from_ticks;
	int error = 0;

	part->stop = r->frozen.ticks ? r->frozen : ring_picture_now(part->uses_ticks);
	set_times(part);
	from_ticks = find_from_ticks(part, last_ms);
	/*
	 * The recorder keeps the pair, so that a record has the same time in all snapshots that
	 * contain it.
	 */
	if (timeline_add(&part->timeline, part->stop) ||
		timeline_add(&r->recording.timeline, part->stop))
		error = -ENOMEM;
	for (size_t i = 0; i < r->recording.n_sources; i++)
		if (pieces[i].s && fill_picture(r, i, &pieces[i], from_ticks))
			error = -ENOMEM;
	find_window(part, from_ticks);
	return error;
}

int recorder_cut(struct recorder *r, uint64_t last_ms, struct recording *part)
{
	size_t n = r->recording.n_sources;
	struct process_picture *pieces = calloc(n, sizeof *pieces);
	int error = r->recording.error;

	*part = r->recording;
	part->sources = calloc(n, sizeof(struct source *));
	part->n_sources = part->n_allocated = 0;
	part->samples = (struct recording_samples){.rate_hz = 0};
	/* Finds the limit again: the recorder may be on for days. */
	recording_limit(part, capture_find_max_bytes(r->max_bytes, &r->family->headroom), 0);
	/* The rings do not wait, so slots are spooled afterwards. */
	part->part_window_bytes = part->budget.window_bytes;
	part->budget.window_bytes = 0;
	if (timeline_copy(&r->recording.timeline, &part->timeline) || !part->sources || !pieces) {
		free(pieces);
		return part->error = -ENOMEM;
	}
	if (begin_pictures(r, last_ms, part, pieces))
		error = -ENOMEM;
	if (fill_pictures(r, last_ms, part, pieces))
		error = -ENOMEM;
	for (size_t i = 0; i < n; i++)
		end_picture(&pieces[i]);
	free(pieces);
	r->recording.error = 0;
	return part->error = error;
}

/* --- CPU samples ------------------------------------------------------------------------------ */

/* True when records of the part's time are missing, because newer ones took their place. */
static bool part_is_short(const struct recording *part)
{
	for (size_t i = 0; i < part->n_sources; i++)
		for (size_t k = 0; k < part->sources[i]->drain.n_logs; k++)
			if (part->sources[i]->drain.logs[k]->complete_ticks)
				return true;
	return false;
}

int64_t recorder_add_samples(const struct recorder *r, uint64_t last_ms, struct recording *part)
{
	int64_t start_ns = part->start.monotonic_ns;
	int64_t from_ns = last_ms || part_is_short(part) ? start_ns + part->window_ns : start_ns;
	int64_t earliest_ns;

	if (!r->recording.samples.rate_hz)
		return INT64_MAX;
	earliest_ns = recording_samples_copy(&r->recording, &part->samples, from_ns);
	if (part->samples.samples.error)
		part->error = -ENOMEM;
	return earliest_ns;
}
