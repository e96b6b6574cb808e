/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings without an end; see continuous.h. */
#include "daemon/pipeline/recording/continuous.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/pipeline/drain/drain_cut.h"
#include "daemon/pipeline/recording/collectors.h"
#include "daemon/pipeline/recording/recording.h"
#include "daemon/pipeline/recording/recording_cut.h"
#include "daemon/pipeline/recording/slice.h"
#include "daemon/pipeline/recording/source.h"

#define N_SLICES 16
/* What is larger has more of them, up to so many: each has a file. */
#define MAX_SLICES 64
#define SLICE_BYTES ((uint64_t)10 << 20)
/* Of slices that are in no file; what the disk is too slow for goes like what is too much, the oldest first. */
#define MEMORY_BYTES ((uint64_t)40 << 20)
#define MEMORY_SLICES 4

void continuous_init(struct continuous *k, struct recording *r, uint64_t max_bytes,
	const struct async_carries *carries)
{
	memset(k, 0, sizeof *k);
	k->recording = r;
	k->max_bytes = max_bytes;
	k->carries = carries;
	k->last = &k->slices;
	k->kept_from_ns = k->slice_from_ns = r->start.monotonic_ns;
}

static void wait_for_maker(struct continuous *k)
{
	if (k->has_maker)
		pthread_join(k->maker, NULL);
	k->has_maker = false;
}

void continuous_deinit(struct continuous *k)
{
	wait_for_maker(k);
	while (k->slices) {
		struct slice *slice = k->slices;

		k->slices = slice->next;
		slice_free(slice);
	}
}

/* Slices. */

/* What does not fit into memory stays with the recording, and is tried again. */
static void add_slice(struct continuous *k)
{
	struct recording *r = k->recording;
	struct slice *slice = slice_new(r->n_sources);

	if (!slice)
		return;
	for (size_t i = 0; i < r->n_sources; i++)
		drain_cut(&r->sources[i]->drain, &slice->drains[slice->n_drains++]);
	slice->n_bytes = r->budget.used_bytes - k->sliced_bytes;
	slice->from_ns = k->slice_from_ns;
	slice->earliest_ticks = r->earliest_ticks;
	k->sliced_bytes += slice->n_bytes;
	k->slice_from_ns = monotonic_ns();
	*k->last = slice;
	k->last = &slice->next;
}

/* What its thread lost is told with the next part, unless the thread is gone. */
static void return_losses(const struct thread_log *log, struct drain *to)
{
	for (size_t i = 0; i < to->n_logs; i++)
		for (int k = 0; to->logs[i]->serial == log->serial && k < LOSS_KINDS; k++)
			to->logs[i]->lost_told[k] -= log->lost[k];
	to->lost_memory += log->lost_memory;
}

/* Its records go; what it knows of losses stays, with the next part. */
static void give_up(struct slice *slice, struct recording *r)
{
	for (size_t i = 0; i < slice->n_drains; i++) {
		struct drain *from = &slice->drains[i];
		struct drain *to = &r->sources[i]->drain;

		to->lost_oldest += from->lost_oldest + slice_count_entries(from);
		to->lost_memory += from->lost_memory;
		to->lost_no_ring_before -= from->lost_no_ring;
		to->n_broken += from->n_broken;
		for (size_t k = 0; k < from->n_logs; k++)
			return_losses(from->logs[k], to);
	}
}

static void drop_oldest(struct continuous *k)
{
	struct slice *slice = k->slices;

	k->slices = slice->next;
	if (!k->slices)
		k->last = &k->slices;
	k->sliced_bytes -= slice->n_bytes;
	k->recording->budget.used_bytes -= slice->n_bytes;
	k->kept_from_ns = k->slices ? k->slices->from_ns : k->slice_from_ns;
	give_up(slice, k->recording);
	slice_free(slice);
	collectors_repeat(k->recording);
}

static uint64_t find_slice_bytes(const struct continuous *k)
{
	uint64_t least = k->max_bytes / MAX_SLICES;
	uint64_t share = k->max_bytes / N_SLICES;

	if (share <= SLICE_BYTES)
		return share;
	return least > SLICE_BYTES ? least : SLICE_BYTES;
}

/* What may stay in memory. */
static uint64_t find_memory_bytes(const struct continuous *k)
{
	uint64_t some = MEMORY_SLICES * find_slice_bytes(k);

	return some > MEMORY_BYTES ? some : MEMORY_BYTES;
}

/* One at a time, the oldest first. What fits into memory needs no file. */
static void store_next(struct continuous *k)
{
	struct slice *next = NULL;

	if (k->max_bytes <= MEMORY_BYTES)
		return;
	for (struct slice *slice = k->slices; slice; slice = slice->next) {
		if (slice_is_busy(slice))
			return;
		if (!next && slice_is_in_memory(slice) && !slice->has_failed)
			next = slice;
	}
	if (next)
		slice_store(next);
}

static uint64_t count_in_memory(const struct continuous *k)
{
	uint64_t n_bytes = 0;

	for (const struct slice *slice = k->slices; slice; slice = slice->next)
		if (slice_is_in_memory(slice))
			n_bytes += slice->n_bytes;
	return n_bytes;
}

void continuous_visit(struct continuous *k)
{
	const uint64_t *used_bytes = &k->recording->budget.used_bytes;

	if (*used_bytes - k->sliced_bytes >= find_slice_bytes(k))
		add_slice(k);
	store_next(k);
	while (k->slices && k->slices->next &&
		(*used_bytes > k->max_bytes || count_in_memory(k) > find_memory_bytes(k)))
		drop_oldest(k);
}

/* Parts. */

static void make(
	struct continuous_part *p, void (*make_trace)(struct recording *, void *), void *context)
{
	continuous_part_join(p);
	make_trace(p->recording, context);
	recording_part_deinit(p->recording);
	free(p->recording);
	p->recording = NULL;
}

static void *run_maker(void *argument)
{
	struct continuous *k = argument;

	make(&k->part, k->make, k->context);
	atomic_store(&k->is_made, 1);
	return NULL;
}

bool continuous_is_ready(struct continuous *k)
{
	if (k->has_maker && !atomic_load(&k->is_made))
		return false;
	wait_for_maker(k);
	return true;
}

/* All that is kept, and |cut| off the recording, become k->part. -ENOMEM: it is kept. */
static int take_part(
	struct continuous *k, int (*cut)(struct recording *, struct recording *, int64_t))
{
	struct recording *part = malloc(sizeof *part);

	if (!part)
		return -ENOMEM;
	cut(k->recording, part, k->kept_from_ns);
	k->part = (struct continuous_part){part, k->slices, k->carries};
	k->slices = NULL;
	k->last = &k->slices;
	k->sliced_bytes = 0;
	k->recording->budget.used_bytes = 0;
	k->recording->budget.slot_bytes = 0;
	k->kept_from_ns = k->slice_from_ns = part->stop.monotonic_ns;
	return 0;
}

int continuous_cut(
	struct continuous *k, void (*make_trace)(struct recording *, void *), void *context)
{
	if (take_part(k, recording_cut))
		return -ENOMEM;
	collectors_repeat(k->recording);
	k->make = make_trace;
	k->context = context;
	atomic_store(&k->is_made, 0);
	k->has_maker = pthread_create(&k->maker, NULL, run_maker, k) == 0;
	if (k->has_maker)
		pthread_setname_np(k->maker, "ptap-maker");
	else
		run_maker(k);
	return 0;
}

int continuous_end(
	struct continuous *k, void (*make_trace)(struct recording *, void *), void *context)
{
	wait_for_maker(k);
	if (take_part(k, recording_cut_last))
		return -ENOMEM;
	make(&k->part, make_trace, context);
	return 0;
}
