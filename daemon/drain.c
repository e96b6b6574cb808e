/* SPDX-License-Identifier: Apache-2.0 */
/* Emptying the rings; see drain.h and lib/wire/ring.h for the order of loads and stores. */
#include "daemon/drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
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
	for (size_t i = 0; i < d->n_logs; i++) {
		free(d->logs[i]->slots);
		free(d->logs[i]->open);
		free(d->logs[i]);
	}
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

static struct thread_log *add_log(struct drain *d, uint32_t i, const struct ring *ring)
{
	struct thread_log *log = calloc(1, sizeof *log);

	if (d->n_logs == d->n_logs_allocated) {
		size_t n = d->n_logs_allocated ? 2 * d->n_logs_allocated : 16;
		struct thread_log **logs = reallocarray(d->logs, n, sizeof(struct thread_log *));

		if (logs) {
			d->logs = logs;
			d->n_logs_allocated = n;
		}
	}
	if (!log || d->n_logs == d->n_logs_allocated) {
		free(log);
		return NULL;
	}
	log->tid = atomic_load_explicit(&ring->tid, memory_order_relaxed);
	log->ring = i;
	d->log_of_ring[i] = (int32_t)d->n_logs;
	d->logs[d->n_logs++] = log;
	return log;
}

/* The log of the thread that owns ring |i| now; NULL when memory ran out. */
static struct thread_log *find_log(struct drain *d, uint32_t i, const struct ring *ring)
{
	return d->log_of_ring[i] < 0 ? add_log(d, i, ring) : d->logs[d->log_of_ring[i]];
}

static int make_room(struct thread_log *log, size_t n)
{
	size_t want = log->n_slots + n;
	size_t size = log->n_allocated ? log->n_allocated : 4096;
	struct slot *slots;

	if (want <= log->n_allocated)
		return 0;
	while (size < want)
		size *= 2;
	slots = reallocarray(log->slots, size, sizeof *slots);
	if (!slots)
		return -ENOMEM;
	log->slots = slots;
	log->n_allocated = size;
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
	memcpy(log->name, ring->name, sizeof log->name);
	log->name[sizeof log->name - 1] = '\0';
	for (int k = 0; k < LOSS_KINDS; k++)
		log->lost[k] = atomic_load_explicit(&ring->lost[k], memory_order_relaxed);
}

static void store_slots(struct drain *d, struct thread_log *log, struct ring *ring, uint64_t from,
	size_t n, int *error)
{
	size_t bytes = n * sizeof(struct slot);

	if (d->budget->used_bytes + bytes > d->budget->max_bytes) {
		log->lost_memory += n;
		return;
	}
	if (make_room(log, n)) {
		*error = -ENOMEM;
		log->lost_memory += n;
		return;
	}
	copy_out(d->target, ring, from, n, log->slots + log->n_slots);
	log->n_slots += n;
	d->budget->used_bytes += bytes;
}

/* Returns how full it was, in 1/1000. */
static unsigned visit_ring(struct drain *d, uint32_t i, int *error)
{
	struct ring *ring = target_ring(d->target, i);
	struct thread_log *log;
	uint64_t head;
	uint64_t n;

	if (atomic_load_explicit(&ring->word, memory_order_acquire) != d->word)
		return 0;
	head = atomic_load_explicit(&ring->head, memory_order_acquire);
	n = head - d->target->tail[i];
	log = find_log(d, i, ring);
	if (!log) {
		*error = -ENOMEM;
		return 0;
	}
	if (n > d->target->n_slots) {
		/* Only a target that writes at random gets here: start again behind it. */
		d->n_broken++;
		n = 0;
	}
	if (n)
		store_slots(d, log, ring, d->target->tail[i], n, error);
	d->target->tail[i] = head;
	atomic_store_explicit(&ring->tail, head, memory_order_release);
	copy_identity(log, ring);
	return (unsigned)(n * 1000 / d->target->n_slots);
}

/*
 * One entry of an open stack. While the thread runs an entry may be half of one span and half of the
 * next: the low bits of the start are there twice to tell. 0 or -EAGAIN.
 */
static int read_open(struct ring *ring, uint32_t depth, struct open_span *out)
{
	struct ring_frame *frame = ring_frame(ring, depth);
	uint64_t start = atomic_load_explicit(&ring->open[depth].start, memory_order_acquire);
	uint64_t what = atomic_load_explicit(&ring->open[depth].what, memory_order_acquire);

	if ((uint32_t)(what >> 32) != (uint32_t)start)
		return -EAGAIN;
	out->start = start;
	out->string_id = (uint32_t)what & STRING_ID_MASK;
	out->kind = (unsigned)(what >> 24) & 255u;
	out->n_slots = 0;
	if (out->kind & RING_OPEN_HAS_FRAME) {
		out->n_slots = atomic_load_explicit(&frame->n_slots, memory_order_relaxed);
		if (out->n_slots > RECORD_MAX_EXTRA)
			return -EAGAIN;
		memcpy(out->slots, frame->slots, out->n_slots * sizeof(struct slot));
	}
	return start ? 0 : -EAGAIN;
}

/* The start of the last record that was copied, as a ring keeps it (48 bits); 0 if there is none. */
static uint64_t last_start(const struct thread_log *log)
{
	size_t at = 0;
	uint64_t start = 0;

	while (at < log->n_slots) {
		start = log->slots[at].word[0] & RECORD_START_MASK;
		at += 1 + record_n_extra(log->slots[at].word[0]);
	}
	return start;
}

static void read_open_spans(struct drain *d, struct thread_log *log, int *error)
{
	struct ring *ring = target_ring(d->target, log->ring);
	uint32_t depth = atomic_load_explicit(&ring->depth, memory_order_acquire);
	uint64_t last = last_start(log);

	if (atomic_load(&ring->word) != d->word || depth == 0 || depth > RECORD_MAX_DEPTH)
		return;
	log->open = calloc(depth, sizeof *log->open);
	if (!log->open) {
		*error = -ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < depth; i++) {
		struct open_span *open = &log->open[log->n_open];
		int tries = 3;

		while (read_open(ring, i, open) && --tries)
			;
		/* The end was written, the depth not yet: the span is in the ring already. */
		if (tries && (open->start & RECORD_START_MASK) != last)
			log->n_open++;
	}
}

/* The ring of a thread that is gone can serve another one. */
static void reclaim(struct drain *d, uint32_t i, int *error)
{
	int32_t log = d->log_of_ring[i];

	if (log < 0 || target_has_thread(d->target, d->logs[log]->tid))
		return;
	/* What it wrote between the visit and its end. */
	visit_ring(d, i, error);
	read_open_spans(d, d->logs[log], error);
	d->logs[log]->is_closed = 1;
	d->log_of_ring[i] = -1;
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

void drain_finish(struct drain *d, int *error)
{
	drain_visit(d, error);
	for (size_t i = 0; i < d->n_logs; i++)
		if (!d->logs[i]->is_closed)
			read_open_spans(d, d->logs[i], error);
	d->lost_no_ring = atomic_load(&d->target->arena->lost_no_ring) - d->lost_no_ring_before;
	if (d->n_broken)
		log_warn(LOG_TARGET, "%llu rings made no sense", (unsigned long long)d->n_broken);
}
