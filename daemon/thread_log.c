/* SPDX-License-Identifier: Apache-2.0 */
/* What one thread has recorded; see thread_log.h. */
#include "daemon/thread_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fence.h"
#include "base/grow.h"
#include "daemon/spooler.h"
#include "lib/wire/record.h"

/* A log beside its slots: also the room for some that it does not use yet. */
#define SPARE_SLOTS 32
#define LOG_BYTES (sizeof(struct thread_log) + SPARE_SLOTS * sizeof(struct slot))

static int take(struct drain_budget *budget, uint64_t max_bytes, uint64_t bytes)
{
	if (budget->used_bytes + bytes > max_bytes)
		return THREAD_LOG_FULL;
	budget->used_bytes += bytes;
	return 0;
}

static uint64_t count_waiting(const struct drain_budget *budget)
{
	return budget->slot_bytes + (budget->spooler ? spooler_get_held_bytes(budget->spooler) : 0);
}

static int take_slots(struct drain_budget *budget, uint64_t bytes)
{
	uint64_t waiting = count_waiting(budget);

	if (!budget->window_bytes)
		return take(budget, budget->max_bytes, bytes);
	if (budget->spooler && spooler_is_full(budget->spooler))
		return THREAD_LOG_FULL;
	/* With nothing to wait for, one ring's slots must do, however large it is. */
	if (!budget->may_exceed && waiting &&
		waiting + bytes > DRAIN_MAX_WINDOWS * budget->window_bytes)
		return THREAD_LOG_LATER;
	return take(budget, UINT64_MAX, bytes);
}

int thread_log_new(struct drain_budget *budget, struct thread_log **out)
{
	int r = take(budget, budget->max_bytes, LOG_BYTES);

	if (r)
		return r;
	*out = calloc(1, sizeof **out);
	return *out ? 0 : -ENOMEM;
}

struct thread_log *thread_log_free(struct thread_log *log)
{
	if (log) {
		free(log->slots);
		free(log->open);
	}
	free(log);
	return NULL;
}

/* Room for |n| slots more; memory that was there before costs no page faults. */
static int make_room(struct thread_log *log, size_t n, const struct drain_budget *budget)
{
	if (!log->slots && budget->spooler)
		log->slots = spooler_reuse(budget->spooler, &log->n_allocated);
	return grow(&log->slots, &log->n_allocated, log->n_slots + n);
}

int thread_log_extend(
	struct thread_log *log, size_t n, struct drain_budget *budget, struct slot **room_out)
{
	int r = take_slots(budget, n * sizeof(struct slot));

	if (r == THREAD_LOG_LATER)
		return r;
	if (!r)
		r = make_room(log, n, budget);
	if (r) {
		log->lost_memory += n;
		return r;
	}
	*room_out = log->slots + log->n_slots;
	log->last_visit = log->n_slots;
	log->n_slots += n;
	budget->slot_bytes += n * sizeof(struct slot);
	return 0;
}

static uint64_t record_identity(uint64_t word0)
{
	return word0 & ~record_word0(0, RECORD_NONE, 0, RECORD_MAX_EXTRA);
}

uint64_t thread_log_get_last(const struct thread_log *log)
{
	size_t at = log->last_visit;
	uint64_t last = log->last_record;

	while (at < log->n_slots) {
		last = record_identity(log->slots[at].word[0]);
		at += 1 + record_n_extra(log->slots[at].word[0]);
	}
	return last;
}

struct slot_batch thread_log_steal(struct thread_log *log, struct drain_budget *budget)
{
	struct slot_batch batch = {log->slots, log->n_slots, log->n_allocated};
	uint64_t n_bytes = log->n_slots * sizeof *log->slots;

	log->last_record = thread_log_get_last(log);
	budget->used_bytes -= n_bytes;
	budget->slot_bytes -= n_bytes;
	budget->given_bytes += n_bytes;
	log->slots = NULL;
	log->n_slots = log->n_allocated = log->last_visit = 0;
	return batch;
}

/* The slots that it has in its frame, of a thread that may begin another span there meanwhile. */
static int read_frame(struct ring *ring, uint32_t depth, struct open_span *out)
{
	struct ring_frame *frame = ring_frame(ring, depth);

	out->n_slots = atomic_load_explicit(&frame->n_slots, memory_order_relaxed);
	if (out->n_slots > RECORD_MAX_EXTRA)
		return -EAGAIN;
	memcpy(out->slots, frame->slots, out->n_slots * sizeof(struct slot));
	return 0;
}

/* Whether what was read of the span that began at |start| is of no other: it is still open. */
static int is_still_open(struct ring *ring, uint32_t depth, uint64_t start)
{
	/* Partner: ring_fence_open() (lib/record/emit.h). */
	fence_acquire();
	return atomic_load_explicit(&ring->depth, memory_order_acquire) > depth &&
	       atomic_load_explicit(&ring->open[depth].start, memory_order_relaxed) == start;
}

/*
 * One entry of an open stack. While the thread runs an entry may be half of one span and half of the
 * next: the low bits of the start are there twice to tell. 0 or -EAGAIN.
 */
static int read_open(struct ring *ring, uint32_t depth, struct open_span *out)
{
	uint64_t start = atomic_load_explicit(&ring->open[depth].start, memory_order_acquire);
	uint64_t what = atomic_load_explicit(&ring->open[depth].what, memory_order_acquire);
	int r = 0;

	if ((uint32_t)(what >> 32) != (uint32_t)start)
		return -EAGAIN;
	out->start = start;
	out->string_id = (uint32_t)what & STRING_ID_MASK;
	out->kind = (unsigned)(what >> 24) & 255u;
	out->n_slots = 0;
	if (out->kind & RING_OPEN_HAS_FRAME)
		r = read_frame(ring, depth, out);
	return !r && start && is_still_open(ring, depth, start) ? 0 : -EAGAIN;
}

/* The record_identity() that it has in the ring when it ends. Others may have begun in the same tick. */
static uint64_t open_identity(const struct open_span *open, uint32_t depth)
{
	return record_word0(
		open->start, (enum record_kind)(open->kind & ~RING_OPEN_HAS_FRAME & 15u), depth, 0);
}

/* What was read for a part that could not be cut off, for want of memory (drain_cut.c). */
static void forget_open(struct thread_log *log)
{
	free(log->open);
	log->open = NULL;
	log->n_open = 0;
}

int thread_log_read_open(struct thread_log *log, struct ring *ring, struct drain_budget *budget)
{
	uint32_t depth = atomic_load_explicit(&ring->depth, memory_order_acquire);
	uint64_t last = thread_log_get_last(log);

	forget_open(log);
	if (depth == 0 || depth > RECORD_MAX_DEPTH)
		return 0;
	if (take(budget, budget->max_bytes + budget->max_bytes / 8, depth * sizeof *log->open)) {
		log->lost_memory += depth;
		return 0;
	}
	log->open = calloc(depth, sizeof *log->open);
	if (!log->open)
		return -ENOMEM;
	for (uint32_t i = 0; i < depth; i++) {
		struct open_span *open = &log->open[log->n_open];
		int tries = 3;

		while (read_open(ring, i, open) && --tries)
			;
		/* The end was written, the depth not yet: the span is in the ring already. */
		if (tries && open_identity(open, i) != last)
			log->n_open++;
	}
	return 0;
}
