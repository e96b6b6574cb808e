/* SPDX-License-Identifier: Apache-2.0 */
/* Emptying the rings; see drain.h and lib/wire/ring.h for the order of loads and stores. */
#include "daemon/pipeline/drain/drain.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/log.h"
#include "daemon/pipeline/drain/rings.h"
#include "daemon/target/exit_note.h"
#include "daemon/target/ring_copy.h"
#include "daemon/target/target.h"

/* The most tries to read open spans. After recording stops, a thread drops at most one more. */
#define OPEN_TRIES 3

/*
 * A thread can overwrite its ring while it is copied. The next visit may be the last one, so the
 * copy is tried again at once.
 */
#define COPY_TRIES 8

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

/* --- one ring ----------------------------------------------------------------------------- */

/* Notes that a record was lost since the last pass over the rings. */
static void note_gap(struct drain *d)
{
	gaps_add(&d->gaps, d->passes[2], UINT64_MAX);
}

static void skip_old_records(struct drain *d, uint32_t i, struct thread_log *log)
{
	struct ring_place first = ring_get_first(target_ring(d->target, i));
	struct ring_place at = {d->target->tail[i], 0};
	int tries = COPY_TRIES;

	if (first.position > at.position)
		d->target->tail[i] = first.position;
	else
		while (ring_find_ordinal(d->target, i, &at) && --tries) {
			rings_skip(d->target, i);
			at.position = d->target->tail[i];
		}
	d->n_broken += !tries;
	log->ordinal = at.ordinal;
}

enum copy_outcome {
	COPY_DONE,
	COPY_POSTPONED, /* there is no room before the next visit */
	COPY_OVERWRITTEN, /* the thread overwrote the whole ring during the copy */
};

/* Counts the records of |c| as lost, because there is no memory for them. */
static enum copy_outcome count_as_lost(
	struct drain *d, uint32_t i, struct thread_log *log, const struct ring_copy *c)
{
	struct ring_place end = {c->end, 0};

	if (ring_find_ordinal(d->target, i, &end))
		return COPY_OVERWRITTEN;
	log->lost_memory += end.ordinal - log->ordinal;
	log->ordinal = end.ordinal;
	return COPY_DONE;
}

/* Copies into |slots|, which are the log's, and counts the entries that were overwritten before. */
static enum copy_outcome copy_to_log(
	struct drain *d, struct thread_log *log, struct ring_copy *c, struct slot *slots)
{
	int r;

	ring_copy_take(c, slots);
	r = ring_copy_finish(c);
	if (r) {
		thread_log_forget(log, c->end - c->start, d->budget);
		d->n_broken += r == RING_COPY_BROKEN;
		return r == RING_COPY_GONE ? COPY_OVERWRITTEN : COPY_DONE;
	}
	thread_log_forget(log, c->from.position - c->start, d->budget);
	log->n_overwritten += c->from.ordinal - log->ordinal;
	log->ordinal = ring_copy_count(c, slots, &log->last_record);
	log->n_entries += log->ordinal - c->from.ordinal;
	log->end = c->end;
	return COPY_DONE;
}

static enum copy_outcome copy_ring(
	struct drain *d, uint32_t i, struct thread_log *log, struct ring_copy *c, int *error)
{
	struct slot *slots;
	int r = thread_log_extend(log, c->end - c->start, d->budget, &slots);

	if (r == THREAD_LOG_LATER)
		return COPY_POSTPONED;
	if (r < 0)
		*error = r;
	return r ? count_as_lost(d, i, log, c) : copy_to_log(d, log, c, slots);
}

/* *n_new becomes the number of new slots in the ring. */
static enum copy_outcome try_to_empty_ring(
	struct drain *d, uint32_t i, struct thread_log *log, uint64_t *n_new, int *error)
{
	struct ring_place tail = {d->target->tail[i], log->ordinal};
	struct ring_copy c;
	enum copy_outcome outcome = COPY_DONE;

	*n_new = 0;
	/* The next read of a broken ring begins behind its head. */
	if (ring_copy_begin(&c, d->target, i, tail))
		d->n_broken++;
	else
		*n_new = c.end - tail.position;
	if (*n_new)
		outcome = copy_ring(d, i, log, &c, error);
	if (outcome == COPY_DONE)
		rings_skip_to(d->target, i, c.end);
	return outcome;
}

/*
 * Counts lost records that can make two other records look as if they belonged together. Spans that
 * are lost alone cannot.
 */
static uint64_t count_lost(const struct thread_log *log)
{
	return log->lost[LOSS_FULL] + log->lost[LOSS_REENTRY] + log->lost_memory;
}

static uint64_t empty_ring(struct drain *d, uint32_t i, struct thread_log *log, int *error)
{
	uint64_t n_lost = count_lost(log);
	enum copy_outcome outcome;
	int tries = COPY_TRIES;
	uint64_t n_new;

	do
		outcome = try_to_empty_ring(d, i, log, &n_new, error);
	while (outcome == COPY_OVERWRITTEN && --tries);
	if (outcome != COPY_DONE)
		d->is_behind = true;
	thread_log_copy_identity(log, target_ring(d->target, i));
	log->lost[LOSS_FULL] += log->n_overwritten;
	if (count_lost(log) != n_lost)
		note_gap(d);
	return n_new;
}

/*
 * The number of entries before the tail of ring |i|, whose thread has no log. NULL when memory ran
 * out.
 */
static uint64_t *find_passed_ordinal(struct drain *d, uint32_t i)
{
	if (!d->ordinals)
		d->ordinals = calloc(d->target->n_rings, sizeof *d->ordinals);
	if (!d->ordinals)
		return NULL;
	/* The ring has another thread than at the last pass. */
	if (ring_get_first(target_ring(d->target, i)).position >= d->target->tail[i])
		d->ordinals[i] = 0;
	return &d->ordinals[i];
}

static uint64_t pass_over_ring(struct drain *d, uint32_t i, int *error)
{
	uint64_t *ordinal = find_passed_ordinal(d, i);
	struct ring_place head;
	uint64_t before;
	int tries = COPY_TRIES;

	do
		head.position = atomic_load_explicit(
			&target_ring(d->target, i)->head, memory_order_acquire);
	while (ring_find_ordinal(d->target, i, &head) && --tries);
	rings_skip_to(d->target, i, head.position);
	if (!tries)
		d->n_broken++;
	if (!ordinal)
		*error = -ENOMEM;
	if (!tries || !ordinal)
		return 0;
	before = *ordinal;
	*ordinal = head.ordinal;
	return head.ordinal - before;
}

/* --- logs --------------------------------------------------------------------------------- */

/*
 * Sets *out to the log of the thread that owns ring |i| now, a new one if need be. Returns as
 * thread_log_new().
 */
static int find_log_of_ring(
	struct drain *d, uint32_t i, const struct ring *ring, struct thread_log **out)
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
	skip_old_records(d, i, *out);
	d->log_of_ring[i] = (int32_t)d->n_logs;
	d->logs[d->n_logs++] = *out;
	return 0;
}

/* True when the thread has joined the recording, at any level. */
static bool is_recording(const struct drain *d, const struct ring *ring)
{
	return d->word && ring_is_same_recording(
				  atomic_load_explicit(&ring->word, memory_order_acquire), d->word);
}

/* True for the ring of a thread that records, and for the ring of the collectors. */
static bool is_wanted(const struct drain *d, uint32_t i, const struct ring *ring)
{
	uint32_t word = atomic_load_explicit(&ring->word, memory_order_acquire);

	return word == RING_WORD_DEVICES ? i + 1 == d->devices : is_recording(d, ring);
}

/*
 * Records and losses that are read before the clock are older than its time. So only those are
 * skipped: the clock is read last.
 */
static void skip_ring(struct drain *d, uint32_t i, int64_t before_ns, int *error)
{
	struct ring *ring = target_ring(d->target, i);
	struct thread_log *log;
	int r = find_log_of_ring(d, i, ring, &log);
	uint64_t head;

	if (r < 0)
		*error = r;
	if (!r)
		thread_log_copy_identity(log, ring);
	head = atomic_load_explicit(&ring->head, memory_order_acquire);
	if (monotonic_ns() >= before_ns)
		return;
	if (r) {
		pass_over_ring(d, i, error);
		return;
	}
	rings_skip_to(d->target, i, head);
	skip_old_records(d, i, log);
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

/*
 * Counts the records of a thread for whose log there is no room. Returns how many slots were new.
 */
static uint64_t pass_over_thread(struct drain *d, uint32_t i, int *error)
{
	uint64_t before = d->target->tail[i];

	d->lost_memory += pass_over_ring(d, i, error);
	note_gap(d);
	return d->target->tail[i] - before;
}

/* Returns how full the ring was, in 1/1000. */
static unsigned visit_ring(struct drain *d, uint32_t i, int *error)
{
	struct ring *ring = target_ring(d->target, i);
	struct thread_log *log;
	uint64_t n = 0;
	int r;

	if (!is_wanted(d, i, ring))
		return 0;
	r = find_log_of_ring(d, i, ring, &log);
	if (r < 0)
		*error = r;
	else
		n = r ? pass_over_thread(d, i, error) : empty_ring(d, i, log, error);
	return n < d->target->n_slots ? (unsigned)(n * 1000 / d->target->n_slots) : 1000;
}

/* Forgets the open spans that have ended: their records are among the log's slots from |at| on. */
static void drop_ended_spans(struct thread_log *log, size_t at)
{
	for (; at < log->n_slots && log->n_open; at += 1 + record_n_extra(log->slots[at].word[0]))
		thread_log_drop_ended(log, log->slots[at].word[0], log->end - (log->n_slots - at));
}

/*
 * Reads the stack first, then the ring once more. A span that ends while the recording stops may
 * store its record and leave the stack at any time in between, so it is found in one of the two at
 * least.
 */
static void read_open_once(struct drain *d, struct thread_log *log, struct ring *ring, int *error)
{
	uint64_t last = log->last_record;
	uint64_t end = log->end;
	size_t n_slots = log->n_slots;

	if (thread_log_copy_open(log, ring, d->budget))
		*error = -ENOMEM;
	empty_ring(d, log->ring, log, error);
	thread_log_drop_ended(log, last, end - 1);
	drop_ended_spans(log, n_slots);
}

static uint64_t count_dropped_spans(const struct ring *ring)
{
	return atomic_load_explicit(&ring->lost[LOSS_FULL], memory_order_acquire) +
	       atomic_load_explicit(&ring->lost[LOSS_LEFT_OPEN], memory_order_acquire);
}

/*
 * Reads again if a span was dropped meanwhile, so that each span is either among the open ones or
 * counted.
 */
static void read_open_spans(struct drain *d, struct thread_log *log, int *error)
{
	struct ring *ring = target_ring(d->target, log->ring);
	int tries = OPEN_TRIES;
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
	log->is_closed = true;
	d->log_of_ring[i] = -1;
}

/* Lets another thread have ring |i| if its thread is gone. */
static void reclaim_ring(struct drain *d, uint32_t i, int *error)
{
	const struct ring *ring = target_ring(d->target, i);
	int32_t log = d->log_of_ring[i];
	int32_t tid = log < 0 ? atomic_load(&ring->tid) : d->logs[log]->tid;

	if (target_has_thread(d->target, tid))
		return;
	/* The thread may have written between the last visit and its own end. */
	visit_ring(d, i, error);
	if (d->is_behind)
		return;
	if (d->log_of_ring[i] >= 0)
		close_log(d, i, error);
	rings_free(d->target, i);
}

/* To check at each visit whether each thread is alive would cost more than the drain itself. */
static bool is_time_to_reclaim(struct drain *d)
{
	int64_t now = monotonic_ns();

	if (now < d->next_reclaim_ns)
		return false;
	d->next_reclaim_ns = now + RECLAIM_INTERVAL_NS;
	return true;
}

/*
 * Begins a pass over all rings. A loss that this pass finds happened after the begin of the pass
 * before it, and before the begin of the pass after it. Its gap begins one pass earlier still: a
 * thread reads the clock before it finds its ring full, and may wait for a processor in between.
 */
static void begin_pass(struct drain *d)
{
	uint64_t now = d->budget->era_clock.read_ticks;

	if (now <= d->passes[0])
		return;
	gaps_end(&d->gaps, now);
	d->passes[2] = d->passes[1];
	d->passes[1] = d->passes[0];
	d->passes[0] = now;
}

static void find_lost(struct drain *d)
{
	uint64_t lost_no_ring = atomic_load(&d->target->arena->lost_no_ring);

	if (lost_no_ring != d->seen_no_ring)
		note_gap(d);
	d->seen_no_ring = lost_no_ring;
}

unsigned drain_visit(struct drain *d, int *error)
{
	bool reclaims = is_time_to_reclaim(d);
	unsigned fullest = 0;

	d->is_behind = false;
	begin_pass(d);
	for (uint32_t i = 0; i < d->target->n_rings; i++) {
		unsigned full;

		if (!rings_is_used(d->target, i))
			continue;
		full = visit_ring(d, i, error);
		if (full > fullest)
			fullest = full;
		if (full == 0 && reclaims)
			reclaim_ring(d, i, error);
	}
	find_lost(d);
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
	d->budget->may_exceed = true;
	drain_visit(d, error);
	drain_read_open(d, error);
	d->budget->may_exceed = false;
	d->lost_no_ring = atomic_load(&d->target->arena->lost_no_ring) - d->lost_no_ring_before;
	if (d->n_broken)
		log_warn(LOG_TARGET, "%llu rings had invalid positions",
			(unsigned long long)d->n_broken);
}
