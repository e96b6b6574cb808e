/* SPDX-License-Identifier: Apache-2.0 */
/* A ring at one instant; see ring_picture.h. */
#include "daemon/pipeline/drain/ring_picture.h"

#include <stdbool.h>

#include "base/clock.h"
#include "daemon/pipeline/drain/thread_log.h"
#include "daemon/target/ring_copy.h"
#include "daemon/target/target.h"

/*
 * The number of tries. A try fails only when the thread overwrites the whole ring while the
 * server's thread gets no processor.
 */
#define N_TRIES 8
/* After this time the stores of all processors have reached the memory. */
#define SETTLING_NS 1000

struct clock_pair ring_picture_now(bool uses_ticks)
{
	struct clock_pair now = clock_pair_read(uses_ticks);
	int64_t read_ns = monotonic_ns();

	while (monotonic_ns() < read_ns + SETTLING_NS)
		;
	return now;
}

/*
 * Forgets spans that were open when the stack was read and whose records are in the ring. The head
 * was |before| then, so their records begin at |before| or later, with one exception: the last
 * record before |before|, if the thread had written it but had not lowered the depth yet.
 */
static void drop_ended_spans(struct thread_log *log, const struct ring_copy *c,
	const struct slot *slots, uint64_t before)
{
	struct ring_place at = c->from;
	struct ring_place next;

	if (before > c->from.position)
		at = ring_copy_find(c, before - 1);
	for (; at.position < c->end && log->n_open; at = next) {
		next = ring_copy_next(c, slots, at);
		if (next.position >= before)
			thread_log_drop_ended(
				log, slots[at.position - c->from.position].word[0], at.position);
	}
}

/* The number of entries that the thread has written by now; 0: unknown. */
static uint64_t count_written(struct target *t, uint32_t i)
{
	struct ring_place head;
	int tries = N_TRIES;
	int r;

	do {
		head.position =
			atomic_load_explicit(&target_ring(t, i)->head, memory_order_acquire);
		r = ring_find_ordinal(t, i, &head);
	} while (r && --tries);
	return r ? 0 : head.ordinal;
}

/* Counts all entries as lost, because there is no memory for any. 0 or RING_COPY_GONE. */
static int count_all_lost(
	struct target *t, uint32_t i, const struct ring_copy *c, struct thread_log *log)
{
	struct ring_place end = {c->end, 0};
	int r = ring_find_ordinal(t, i, &end);

	if (!r)
		log->lost_memory += log->ordinal = end.ordinal;
	return r;
}

/*
 * Counts the entries before the copy: they were overwritten, were not wanted, or had no room in
 * memory.
 */
static void count_older(struct thread_log *log, const struct ring_copy *c, struct ring_place first,
	struct ring_place wanted)
{
	log->n_overwritten = ring_copy_count_overwritten(c, first);
	if (wanted.ordinal < log->n_overwritten)
		wanted.ordinal = log->n_overwritten;
	log->is_limited = wanted.ordinal > log->n_overwritten;
	log->n_left_out = c->from.ordinal - wanted.ordinal;
}

/* Outcomes: as ring_copy_finish(), and -ENOMEM. */
static int copy_records(struct target *t, uint32_t i, struct drain_budget *budget,
	struct thread_log *log, uint64_t before)
{
	struct ring_place first = ring_get_first(target_ring(t, i));
	struct ring_place wanted;
	struct ring_copy c;
	struct slot *slots;
	size_t n;
	int r = ring_copy_begin(&c, t, i, first);

	if (!r && log->from > c.start && log->from <= c.end)
		r = ring_copy_narrow(&c, c.end - log->from);
	wanted = c.from;
	if (!r)
		r = ring_copy_narrow(&c, drain_budget_count_room(budget));
	if (r)
		return r;
	n = c.end - c.start;
	r = thread_log_extend(log, n, budget, &slots);
	if (r)
		return count_all_lost(t, i, &c, log) ? RING_COPY_GONE : r < 0 ? r : 0;
	ring_copy_take(&c, slots);
	r = ring_copy_finish(&c);
	thread_log_forget(log, r ? n : c.from.position - c.start, budget);
	if (r)
		return r;
	log->end = c.end;
	count_older(log, &c, first, wanted);
	log->ordinal = ring_copy_count(&c, slots, &log->last_record);
	drop_ended_spans(log, &c, slots, before);
	return 0;
}

/*
 * Outcomes: as copy_records(). The stack is read first: spans that have ended by then are in the
 * ring.
 */
static int try_picture(
	struct target *t, uint32_t i, struct drain_budget *budget, struct thread_log *log)
{
	struct ring *ring = target_ring(t, i);
	uint64_t before = atomic_load_explicit(&ring->head, memory_order_acquire);
	int r;

	log->lost_memory = 0;
	r = thread_log_copy_open(log, ring, budget);
	return r ? r : copy_records(t, i, budget, log, before);
}

int ring_picture_take(struct target *t, uint32_t i, uint32_t word, struct drain_budget *budget,
	struct thread_log *log)
{
	struct ring *ring = target_ring(t, i);
	int tries = N_TRIES;
	int r;

	if (!ring_is_same_recording(atomic_load_explicit(&ring->word, memory_order_acquire), word))
		return RING_PICTURE_NONE;
	log->tid = atomic_load_explicit(&ring->tid, memory_order_relaxed);
	log->ring = i;
	do
		r = try_picture(t, i, budget, log);
	while (r == RING_COPY_GONE && --tries);
	if (r == RING_COPY_GONE)
		log->n_overwritten = log->ordinal = count_written(t, i);
	thread_log_copy_identity(log, ring);
	if (r == RING_COPY_BROKEN)
		return RING_PICTURE_BROKEN;
	return r < 0 ? r : 0;
}

uint64_t ring_picture_count(struct target *t, uint32_t i, uint32_t word)
{
	uint32_t of = atomic_load_explicit(&target_ring(t, i)->word, memory_order_acquire);

	return ring_is_same_recording(of, word) ? count_written(t, i) : 0;
}
