/* SPDX-License-Identifier: Apache-2.0 */
/* Emptying the rings; see drain.h and lib/wire/ring.h for the order of loads and stores. */
#include "daemon/drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/log.h"
#include "daemon/rings.h"
#include "daemon/target.h"

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
}

void drain_begin(struct drain *d, uint32_t word)
{
	d->word = word;
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
	d->log_of_ring[i] = (int32_t)d->n_logs;
	d->logs[d->n_logs++] = *out;
	return 0;
}

/* |n| slots from the ring's position |from|, in one or two pieces. */
static void copy_out(
	const struct target *t, struct ring *ring, uint64_t from, size_t n, struct slot *to)
{
	const struct slot *data = ring_data(ring);
	size_t at = from & (t->n_slots - 1);
	size_t first = t->n_slots - at < n ? t->n_slots - at : n;

	memcpy(to, data + at, first * sizeof *to);
	memcpy(to + first, data, (n - first) * sizeof *to);
}

static void copy_identity(struct thread_log *log, struct ring *ring)
{
	memcpy(log->name, ring_get_name(ring), sizeof log->name);
	log->name[sizeof log->name - 1] = '\0';
	for (int k = 0; k < LOSS_KINDS; k++)
		log->lost[k] = atomic_load_explicit(&ring->lost[k], memory_order_relaxed);
}

/* As thread_log_extend(). */
static int store_slots(
	struct drain *d, struct thread_log *log, struct ring *ring, uint64_t from, size_t n)
{
	struct slot *room;
	int r = thread_log_extend(log, n, d->budget, &room);

	if (!r)
		copy_out(d->target, ring, from, n, room);
	return r;
}

/* How many slots are new, up to |head|. */
static uint64_t count_new(struct drain *d, uint32_t i, uint64_t head)
{
	uint64_t n = head - d->target->tail[i];

	if (n <= d->target->n_slots)
		return n;
	/* Only a target that writes at random gets here: start again behind it. */
	d->n_broken++;
	return 0;
}

/* The target may write up to there again. */
static void leave_ring(struct drain *d, uint32_t i, uint64_t head)
{
	d->target->tail[i] = head;
	atomic_store_explicit(&target_ring(d->target, i)->tail, head, memory_order_release);
}

static void take_ring(
	struct drain *d, uint32_t i, struct thread_log *log, uint64_t head, uint64_t n, int *error)
{
	struct ring *ring = target_ring(d->target, i);
	int r = n ? store_slots(d, log, ring, d->target->tail[i], n) : 0;

	if (r < 0)
		*error = r;
	if (r == THREAD_LOG_LATER)
		d->is_behind = 1;
	else
		leave_ring(d, i, head);
	copy_identity(log, ring);
}

/* Returns how full it was, in 1/1000. */
static unsigned visit_ring(struct drain *d, uint32_t i, int *error)
{
	struct ring *ring = target_ring(d->target, i);
	struct thread_log *log;
	uint64_t head;
	uint64_t n;
	int r;

	if (!ring_is_same_recording(
		    atomic_load_explicit(&ring->word, memory_order_acquire), d->word))
		return 0;
	head = atomic_load_explicit(&ring->head, memory_order_acquire);
	n = count_new(d, i, head);
	r = find_log(d, i, ring, &log);
	if (r < 0) {
		*error = r;
		return 0;
	}
	if (r)
		d->lost_memory += n;
	else
		take_ring(d, i, log, head, n, error);
	if (r)
		leave_ring(d, i, head);
	return (unsigned)(n * 1000 / d->target->n_slots);
}

static void read_open_spans(struct drain *d, struct thread_log *log, int *error)
{
	struct ring *ring = target_ring(d->target, log->ring);

	if (ring_is_same_recording(atomic_load(&ring->word), d->word) &&
		thread_log_read_open(log, ring, d->budget))
		*error = -ENOMEM;
}

static void close_log(struct drain *d, uint32_t i, int *error)
{
	struct thread_log *log = d->logs[d->log_of_ring[i]];

	read_open_spans(d, log, error);
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

unsigned drain_visit(struct drain *d, int *error)
{
	int reclaims = is_time_to_reclaim(d);
	unsigned fullest = 0;

	d->is_behind = 0;
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
	return fullest;
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
	d->budget->may_exceed = 0;
	drain_read_open(d, error);
	d->lost_no_ring = atomic_load(&d->target->arena->lost_no_ring) - d->lost_no_ring_before;
	if (d->n_broken)
		log_warn(LOG_TARGET, "%llu rings made no sense", (unsigned long long)d->n_broken);
}
