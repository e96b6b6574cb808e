/* SPDX-License-Identifier: Apache-2.0 */
/* Emptying the rings; see drain.h and lib/wire/ring.h for the order of loads and stores. */
#include "daemon/pipeline/drain/drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/log.h"
#include "daemon/pipeline/drain/drain_ring.h"
#include "daemon/pipeline/drain/rings.h"
#include "daemon/target/exit_note.h"
#include "daemon/target/target.h"

/* A thread that the recording was stopped for drops one span more at most. */
#define N_TRIES 3

#define RECLAIM_INTERVAL_NS (50 * NS_PER_MS)

void drain_init(struct drain *d, struct target *t, struct drain_budget *budget)
{
	memset(d, 0, sizeof *d);
	d->target = t;
	d->budget = budget;
	for (uint32_t i = 0; i < ARENA_MAX_RINGS; i++)
		d->log_of_ring[i] = -1;
}

void drain_deinit(struct drain *d)
{
	for (size_t i = 0; i < d->n_logs; i++)
		thread_log_free(d->logs[i]);
	free(d->logs);
	free(d->ordinals);
	memset(d, 0, sizeof *d);
}

void drain_reset_rings(struct drain *d)
{
	for (uint32_t i = 0; i < d->target->n_rings; i++) {
		if (!rings_is_used(d->target, i))
			continue;
		if (target_has_thread(d->target, target_ring(d->target, i)->tid))
			rings_skip(d->target, i);
		else
			rings_free(d->target, i);
	}
	d->lost_no_ring_before = atomic_load(&d->target->arena->lost_no_ring);
	d->seen_no_ring = d->lost_no_ring_before;
}

void drain_begin(struct drain *d, uint32_t word)
{
	d->word = word;
}

void drain_set_devices(struct drain *d, uint32_t devices)
{
	d->devices = devices;
}

/* *out is the log of the thread that owns ring |i| now. As thread_log_new(). */
static int find_log(struct drain *d, uint32_t i, const struct ring *ring, struct thread_log **out)
{
	int r;

	if (d->log_of_ring[i] >= 0) {
		*out = d->logs[d->log_of_ring[i]];
		return 0;
	}
	r = grow(&d->logs, &d->n_logs_allocated, d->n_logs + 1);
	if (!r)
		r = thread_log_new(d->budget, out);
	if (r)
		return r;
	(*out)->serial = d->next_serial++;
	(*out)->tid = atomic_load_explicit(&ring->tid, memory_order_relaxed);
	(*out)->ring = i;
	drain_ring_begin(d, i, *out);
	d->log_of_ring[i] = (int32_t)d->n_logs;
	d->logs[d->n_logs++] = *out;
	return 0;
}

/* In the recording, whatever its level was when the thread looked. */
static int is_recording(const struct drain *d, const struct ring *ring)
{
	return d->word && ring_is_same_recording(
				  atomic_load_explicit(&ring->word, memory_order_acquire), d->word);
}

/* A thread's that records, or the collectors'. */
static int is_wanted(const struct drain *d, uint32_t i, const struct ring *ring)
{
	uint32_t word = atomic_load_explicit(&ring->word, memory_order_acquire);

	return word == RING_WORD_DEVICES ? i + 1 == d->devices : is_recording(d, ring);
}

/* What is read before the clock was written, or lost, before that time: after it nothing may be read any more. */
static void skip_ring(struct drain *d, uint32_t i, int64_t before_ns, int *error)
{
	struct ring *ring = target_ring(d->target, i);
	struct thread_log *log;
	int r = find_log(d, i, ring, &log);
	uint64_t head;

	if (r < 0)
		*error = r;
	if (!r)
		thread_log_copy_identity(log, ring);
	head = atomic_load_explicit(&ring->head, memory_order_acquire);
	if (monotonic_ns() >= before_ns)
		return;
	if (r) {
		drain_ring_pass_over(d, i, error);
		return;
	}
	rings_skip_to(d->target, i, head);
	drain_ring_begin(d, i, log);
	for (int k = 0; k < LOSS_KINDS; k++)
		log->lost_before[k] += log->lost[k];
}

void drain_skip(struct drain *d, int64_t before_ns, int *error)
{
	uint64_t lost_no_ring = atomic_load(&d->target->arena->lost_no_ring);

	for (uint32_t i = 0; i < d->target->n_rings; i++)
		if (rings_is_used(d->target, i) && is_recording(d, target_ring(d->target, i)))
			skip_ring(d, i, before_ns, error);
	if (monotonic_ns() < before_ns)
		d->lost_no_ring_before = d->seen_no_ring = lost_no_ring;
}

void drain_begin_over(struct drain *d, uint32_t word, int *error)
{
	drain_begin(d, word);
	drain_skip(d, INT64_MAX, error);
}

/* Of a thread that there is no room for a log of. Returns how many slots were new. */
static uint64_t leave_out(struct drain *d, uint32_t i, int *error)
{
	uint64_t before = d->target->tail[i];

	d->lost_memory += drain_ring_pass_over(d, i, error);
	drain_note_gap(d);
	return d->target->tail[i] - before;
}

/* Returns how full it was, in 1/1000. */
static unsigned visit_ring(struct drain *d, uint32_t i, int *error)
{
	struct ring *ring = target_ring(d->target, i);
	struct thread_log *log;
	uint64_t n = 0;
	int r;

	if (!is_wanted(d, i, ring))
		return 0;
	r = find_log(d, i, ring, &log);
	if (r < 0)
		*error = r;
	else
		n = r ? leave_out(d, i, error) : drain_ring_visit(d, i, log, error);
	return n < d->target->n_slots ? (unsigned)(n * 1000 / d->target->n_slots) : 1000;
}

/* Of the spans that were open, those whose records are among the log's last slots, from |at| on. */
static void drop_ended(struct thread_log *log, size_t at)
{
	for (; at < log->n_slots && log->n_open; at += 1 + record_n_extra(log->slots[at].word[0]))
		thread_log_drop_ended(log, log->slots[at].word[0], log->end - (log->n_slots - at));
}

/*
 * The stack first, then the ring once more: an end that is at work while the recording stops may store its record, and
 * take the span off the stack, at any time in between. So it is in one of them at least.
 */
static void read_open_once(struct drain *d, struct thread_log *log, struct ring *ring, int *error)
{
	uint64_t last = log->last_record;
	uint64_t end = log->end;
	size_t n_slots = log->n_slots;

	if (thread_log_copy_open(log, ring, d->budget))
		*error = -ENOMEM;
	drain_ring_visit(d, log->ring, log, error);
	thread_log_drop_ended(log, last, end - 1);
	drop_ended(log, n_slots);
}

static uint64_t count_dropped_spans(const struct ring *ring)
{
	return atomic_load_explicit(&ring->lost[LOSS_FULL], memory_order_acquire) +
	       atomic_load_explicit(&ring->lost[LOSS_LEFT_OPEN], memory_order_acquire);
}

/* Again if one was dropped meanwhile: it is among the open ones, or it is counted. */
static void read_open_spans(struct drain *d, struct thread_log *log, int *error)
{
	struct ring *ring = target_ring(d->target, log->ring);
	int tries = N_TRIES;
	uint64_t n_dropped;

	if (!is_recording(d, ring))
		return;
	do {
		n_dropped = count_dropped_spans(ring);
		read_open_once(d, log, ring, error);
	} while (count_dropped_spans(ring) != n_dropped && --tries);
}

static void close_log(struct drain *d, uint32_t i, int *error)
{
	struct thread_log *log = d->logs[d->log_of_ring[i]];

	read_open_spans(d, log, error);
	log->gone_ticks = exit_note_find_thread(d->target);
	log->is_closed = 1;
	d->log_of_ring[i] = -1;
}

/* The ring of a thread that is gone can serve another one. */
static void reclaim(struct drain *d, uint32_t i, int *error)
{
	const struct ring *ring = target_ring(d->target, i);
	int32_t log = d->log_of_ring[i];
	int32_t tid = log < 0 ? atomic_load(&ring->tid) : d->logs[log]->tid;

	if (target_has_thread(d->target, tid))
		return;
	/* What it wrote between the visit and its end. */
	visit_ring(d, i, error);
	if (d->is_behind)
		return;
	if (d->log_of_ring[i] >= 0)
		close_log(d, i, error);
	rings_free(d->target, i);
}

/* Asking for every thread at every visit would cost more than the drain. */
static int is_time_to_reclaim(struct drain *d)
{
	int64_t now = monotonic_ns();

	if (now < d->next_reclaim_ns)
		return 0;
	d->next_reclaim_ns = now + RECLAIM_INTERVAL_NS;
	return 1;
}

/*
 * Begins a look at all rings. A loss that is found now happened between the look before and the
 * next one. Its gap begins one look earlier still: a thread reads the clock before it finds its
 * ring full, and may wait for a processor in between.
 */
static void begin_look(struct drain *d)
{
	uint64_t now = d->budget->era_clock.looked_ticks;

	if (now <= d->looks[0])
		return;
	gaps_end(&d->gaps, now);
	d->looks[2] = d->looks[1];
	d->looks[1] = d->looks[0];
	d->looks[0] = now;
}

void drain_note_gap(struct drain *d)
{
	gaps_add(&d->gaps, d->looks[2], UINT64_MAX);
}

static void look_for_lost(struct drain *d)
{
	uint64_t lost_no_ring = atomic_load(&d->target->arena->lost_no_ring);

	if (lost_no_ring != d->seen_no_ring)
		drain_note_gap(d);
	d->seen_no_ring = lost_no_ring;
}

unsigned drain_visit(struct drain *d, int *error)
{
	int reclaims = is_time_to_reclaim(d);
	unsigned fullest = 0;

	d->is_behind = 0;
	begin_look(d);
	for (uint32_t i = 0; i < d->target->n_rings; i++) {
		unsigned full;

		if (!rings_is_used(d->target, i))
			continue;
		full = visit_ring(d, i, error);
		if (full > fullest)
			fullest = full;
		if (full == 0 && reclaims)
			reclaim(d, i, error);
	}
	look_for_lost(d);
	return fullest;
}

int drain_give(struct drain *d, struct drain_budget *budget, void *receiver,
	const struct timeline *timeline)
{
	int r = 0;

	for (size_t i = 0; i < d->n_logs && !r; i++)
		if (d->logs[i]->n_slots)
			r = thread_log_give(d->logs[i], budget, receiver, timeline);
	return r;
}

void drain_read_open(struct drain *d, int *error)
{
	for (size_t i = 0; i < d->n_logs; i++)
		if (!d->logs[i]->is_closed)
			read_open_spans(d, d->logs[i], error);
}

void drain_finish(struct drain *d, int *error)
{
	d->budget->may_exceed = 1;
	drain_visit(d, error);
	drain_read_open(d, error);
	d->budget->may_exceed = 0;
	d->lost_no_ring = atomic_load(&d->target->arena->lost_no_ring) - d->lost_no_ring_before;
	if (d->n_broken)
		log_warn(LOG_TARGET, "%llu rings made no sense", (unsigned long long)d->n_broken);
}
