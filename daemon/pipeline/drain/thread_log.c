/* SPDX-License-Identifier: Apache-2.0 */
/* The records of one thread; see thread_log.h. */
#include "daemon/pipeline/drain/thread_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/pages.h"
#include "lib/wire/record.h"

/* A log counts itself and room for slots that it does not use yet, besides its slots. */
#define SPARE_SLOTS 32
#define LOG_BYTES (sizeof(struct thread_log) + SPARE_SLOTS * sizeof(struct slot))

static int budget_take(struct drain_budget *budget, uint64_t max_bytes, uint64_t bytes)
{
	if (budget->used_bytes + bytes > max_bytes)
		return THREAD_LOG_FULL;
	budget->used_bytes += bytes;
	return 0;
}

static uint64_t budget_count_waiting(const struct drain_budget *budget)
{
	return budget->slot_bytes +
	       (budget->sink ? budget->sink->count_held_bytes(budget->sink) : 0);
}

static int budget_take_slots(struct drain_budget *budget, uint64_t bytes)
{
	uint64_t waiting = budget_count_waiting(budget);

	if (!budget->window_bytes)
		return budget_take(budget, budget->max_bytes, bytes);
	if (budget->sink && budget->sink->is_full(budget->sink))
		return THREAD_LOG_FULL;
	/* If no slots wait, one ring's slots must be accepted, however large the ring is. */
	if (!budget->may_exceed && waiting &&
		waiting + bytes > DRAIN_MAX_WINDOWS * budget->window_bytes)
		return THREAD_LOG_LATER;
	return budget_take(budget, UINT64_MAX, bytes);
}

uint64_t thread_log_count_bytes(uint32_t n_open)
{
	return LOG_BYTES + n_open * sizeof(struct open_span);
}

uint64_t drain_budget_count_room(const struct drain_budget *budget)
{
	uint64_t n_left = budget->used_bytes < budget->max_bytes
				  ? (budget->max_bytes - budget->used_bytes) / sizeof(struct slot)
				  : 0;

	return budget->share_slots && budget->share_slots < n_left ? budget->share_slots : n_left;
}

int thread_log_new(struct drain_budget *budget, struct thread_log **out)
{
	int r = budget_take(budget, budget->max_bytes, LOG_BYTES);

	if (r)
		return r;
	*out = calloc(1, sizeof **out);
	return *out ? 0 : -ENOMEM;
}

struct thread_log *thread_log_free(struct thread_log *log)
{
	if (log) {
		free(log->slots);
		free(log->eras);
		free(log->open);
	}
	free(log);
	return NULL;
}

void thread_log_copy_identity(struct thread_log *log, struct ring *ring)
{
	memcpy(log->name, ring_get_name(ring), sizeof log->name);
	log->name[sizeof log->name - 1] = '\0';
	log->handle = atomic_load_explicit(&ring->handle, memory_order_relaxed);
	for (int k = 0; k < LOSS_KINDS; k++)
		log->lost[k] = open_drop_add(&log->drop, (enum ring_loss)k,
				       atomic_load_explicit(&ring->lost[k], memory_order_relaxed)) -
			       log->lost_before[k];
}

/* Memory that was used before causes no page faults. Fresh memory gets all its pages at once. */
static int log_make_room(struct thread_log *log, size_t n, const struct drain_budget *budget)
{
	size_t end = log->n_slots + n;

	if (!log->slots) {
		if (budget->sink)
			log->slots = budget->sink->reuse(budget->sink, &log->n_allocated);
		log->n_made = log->n_allocated;
	}
	if (grow(&log->slots, &log->n_allocated, end))
		return -ENOMEM;
	if (end <= log->n_made)
		return 0;
	pages_make_large(log->slots, log->n_allocated * sizeof *log->slots);
	pages_make(log->slots + log->n_made, (end - log->n_made) * sizeof *log->slots);
	log->n_made = end;
	return 0;
}

void thread_log_make_room(struct thread_log *log, size_t n, const struct drain_budget *budget)
{
	uint64_t n_bytes = n * sizeof *log->slots;

	if (budget->used_bytes + n_bytes <= budget->max_bytes)
		log_make_room(log, n, budget);
}

int thread_log_extend(
	struct thread_log *log, size_t n, struct drain_budget *budget, struct slot **room_out)
{
	int r = budget_take_slots(budget, n * sizeof(struct slot));

	if (r == THREAD_LOG_LATER)
		return r;
	if (!r)
		r = log_make_room(log, n, budget);
	if (!r)
		r = era_clock_tell(&budget->era_clock, log->n_slots + n, &log->eras, &log->n_eras);
	if (r)
		return r;
	*room_out = log->slots + log->n_slots;
	log->last_visit = log->n_slots;
	log->n_slots += n;
	budget->slot_bytes += n * sizeof(struct slot);
	return 0;
}

/*
 * Shortens the eras by the first |n| slots of the last visit, and drops those that have no slots
 * any more.
 */
static void log_forget_eras(struct thread_log *log, size_t n)
{
	size_t begin = 0;
	size_t n_kept = 0;

	for (size_t i = 0; i < log->n_eras; i++) {
		struct era era = log->eras[i];

		if (era.end > log->last_visit)
			era.end = era.end > log->last_visit + n ? era.end - n : log->last_visit;
		if (era.end == begin)
			continue;
		begin = era.end;
		log->eras[n_kept++] = era;
	}
	log->n_eras = n_kept;
}

void thread_log_forget(struct thread_log *log, size_t n, struct drain_budget *budget)
{
	struct slot *visit = log->slots + log->last_visit;

	if (!n)
		return;
	log->n_slots -= n;
	memmove(visit, visit + n, (log->n_slots - log->last_visit) * sizeof *visit);
	budget->used_bytes -= n * sizeof *visit;
	budget->slot_bytes -= n * sizeof *visit;
	log_forget_eras(log, n);
}

static struct slot_batch log_make_batch(const struct thread_log *log)
{
	return (struct slot_batch){
		.slots = log->slots,
		.n = log->n_slots,
		.n_allocated = log->n_allocated,
		.eras = log->eras,
		.n_eras = log->n_eras,
	};
}

struct slot_batch thread_log_steal(struct thread_log *log, struct drain_budget *budget)
{
	struct slot_batch batch = log_make_batch(log);
	uint64_t n_bytes = log->n_slots * sizeof *log->slots;

	budget->used_bytes -= n_bytes;
	budget->slot_bytes -= n_bytes;
	budget->given_bytes += n_bytes;
	log->slots = NULL;
	log->eras = NULL;
	log->n_slots = log->n_allocated = log->last_visit = log->n_eras = 0;
	log->n_entries = 0;
	return batch;
}

int thread_log_give(struct thread_log *log, struct drain_budget *budget, void *receiver,
	const struct timeline *timeline)
{
	struct slot_batch batch = log_make_batch(log);
	int r = budget->sink->take(budget->sink, receiver, &log->track, &batch, timeline);

	if (!r)
		thread_log_steal(log, budget); /* The sink frees what this returns. */
	return r;
}

/*
 * Forgets the spans of an earlier copy: of the try before, or for a part that could not be cut off
 * for want of memory (drain_cut.c).
 */
static void log_forget_open(struct thread_log *log)
{
	free(log->open);
	log->open = NULL;
	log->n_open = 0;
	log->drop.is_one = false;
}

int thread_log_copy_open(struct thread_log *log, struct ring *ring, struct drain_budget *budget)
{
	uint32_t depth = open_stack_get_depth(ring);

	log_forget_open(log);
	if (depth == 0)
		return 0;
	if (budget_take(
		    budget, budget->max_bytes + budget->max_bytes / 8, depth * sizeof *log->open)) {
		log->lost_memory += depth;
		return 0;
	}
	log->open = calloc(depth, sizeof *log->open);
	if (!log->open)
		return -ENOMEM;
	log->n_open = open_stack_read(ring, depth, log->open, &log->drop);
	return 0;
}

void thread_log_drop_ended(struct thread_log *log, uint64_t word0, uint64_t position)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < log->n_open; i++)
		if (!open_span_has_ended(&log->open[i], word0, position))
			log->open[n++] = log->open[i];
	log->n_open = n;
}
