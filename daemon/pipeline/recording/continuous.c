/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings without an end; see continuous.h. */
#include "daemon/pipeline/recording/continuous.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/pipeline/devices/device_extent.h"
#include "daemon/pipeline/drain/drain_cut.h"
#include "daemon/pipeline/recording/collectors.h"
#include "daemon/pipeline/recording/recording.h"
#include "daemon/pipeline/recording/recording_cut.h"
#include "daemon/pipeline/recording/slice.h"
#include "daemon/pipeline/recording/source.h"
#include "daemon/pipeline/recording/spill.h"
#include "daemon/target/target.h"

#define N_SLICES 16
/* Larger recordings have more slices, but no more than this, because each slice has a file. */
#define MAX_SLICES 64
#define SLICE_BYTES ((uint64_t)10 << 20)
/*
 * Slices without a file take at most so many bytes, or so many slices if that is more. When the
 * disk is too slow, the oldest are dropped.
 */
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

/* --- slices ------------------------------------------------------------------------------- */

/* Makes a slice of the records. If memory runs out, the recording keeps them until the next try. */
static void slice_off_records(struct continuous *k)
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

/* Leaves the losses of |log| to the next part; if its thread is gone, only log->lost_memory. */
static void return_losses(const struct thread_log *log, struct drain *to)
{
	for (size_t i = 0; i < to->n_logs; i++)
		for (int k = 0; to->logs[i]->serial == log->serial && k < LOSS_KINDS; k++)
			to->logs[i]->lost_told[k] -= log->lost[k];
	to->lost_memory += log->lost_memory;
}

/* Moves the losses of |slice|, whose records are dropped, to the next part. */
static void keep_losses(struct slice *slice, struct recording *r)
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

static void drop_oldest_slice(struct continuous *k)
{
	struct slice *slice = k->slices;

	k->slices = slice->next;
	if (!k->slices)
		k->last = &k->slices;
	k->sliced_bytes -= slice->n_bytes;
	k->recording->budget.used_bytes -= slice->n_bytes;
	k->kept_from_ns = k->slices ? k->slices->from_ns : k->slice_from_ns;
	keep_losses(slice, k->recording);
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

/* The most that slices may take in memory. */
static uint64_t find_memory_bytes(const struct continuous *k)
{
	uint64_t some = MEMORY_SLICES * find_slice_bytes(k);

	return some > MEMORY_BYTES ? some : MEMORY_BYTES;
}

/*
 * Writes one slice at a time to a file, the oldest first. Needs none if the whole recording may
 * stay in memory.
 */
static void store_next_slice(struct continuous *k)
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
		slice_off_records(k);
	store_next_slice(k);
	while (k->slices && k->slices->next &&
		(*used_bytes > k->max_bytes || count_in_memory(k) > find_memory_bytes(k)))
		drop_oldest_slice(k);
}

/* --- parts -------------------------------------------------------------------------------- */

/* Moves the records of the part's sources to one more slice. 0 or -ENOMEM. */
static int slice_newest(struct continuous_part *p)
{
	struct recording *r = p->recording;
	struct slice *newest = slice_new(r->n_sources);
	struct slice **last = &p->slices;

	if (!newest)
		return -ENOMEM;
	for (; newest->n_drains < r->n_sources; newest->n_drains++) {
		struct drain *d = &r->sources[newest->n_drains]->drain;

		newest->drains[newest->n_drains] = *d;
		drain_init(d, d->target, d->budget);
	}
	while (*last)
		last = &(*last)->next;
	*last = newest;
	return 0;
}

/*
 * The first time of a device's record. Collectors can hand on records late, which are older than
 * the window and were in no earlier part.
 */
static int64_t find_first_of_devices(const struct continuous_part *p)
{
	struct device_extents devices = {.n = 0};
	int64_t first_ns = INT64_MAX;
	int r = 0;

	for (struct slice *slice = p->slices; slice && !r; slice = slice->next)
		r = slice_find_devices(slice, &devices);
	for (size_t i = 0; i < devices.n; i++) {
		const struct source *s = p->recording->sources[devices.v[i].process];
		int64_t at_ns = device_extent_find_first(&devices.v[i]);

		if (at_ns != INT64_MAX && at_ns - s->target->clock_ahead_ns < first_ns)
			first_ns = at_ns - s->target->clock_ahead_ns;
	}
	device_extents_deinit(&devices);
	if (r)
		p->recording->error = r;
	return first_ns;
}

/*
 * Finds the first time of all records before any record goes to the spool, because
 * times are relative to it.
 */
static void find_extent_of_part(struct continuous_part *p, uint64_t *n_bytes)
{
	uint64_t first = part_origin_find_first_carried(p->carries, p->recording->stop.ticks);

	*n_bytes = 0;
	for (struct slice *slice = p->slices; slice; slice = slice->next) {
		first = slice_find_first(slice, p->recording->earliest_ticks, first);
		for (size_t i = 0; i < slice->n_drains; i++)
			*n_bytes += slice_count(&slice->drains[i]) * sizeof(struct slot);
	}
	part_origin_begin(p->recording, first, find_first_of_devices(p));
}

/* Appends |slice| to the records of the sources, and spools these if a spool was begun. */
static int join_slice(struct slice *slice, struct recording *r)
{
	int error = slice_load(slice);

	for (size_t i = 0; i < slice->n_drains; i++)
		if (drain_join(&r->sources[i]->drain, &slice->drains[i]))
			error = -ENOMEM;
	return spill_give(r) ? -ENOMEM : error;
}

/*
 * Joins the recording and the slices to one recording, for capture_trace_make(), and sets its
 * origin. The slices go to a spool one after the other, so that their memory is freed while
 * they become events. Without a spool all slots go into the logs. The recording's |error| is
 * set if memory ran out.
 */
static void join_part(struct continuous_part *p)
{
	struct recording *r = p->recording;
	uint64_t n_bytes;

	if (r->n_sources && slice_newest(p))
		r->error = -ENOMEM;
	if (r->timeline.n_pairs) {
		find_extent_of_part(p, &n_bytes);
		r->budget.slot_bytes = n_bytes;
		spill_begin(r, n_bytes);
	}
	while (p->slices) {
		struct slice *slice = p->slices;

		p->slices = slice->next;
		if (join_slice(slice, r))
			r->error = -ENOMEM;
		slice_free(slice);
	}
}

static void make_part(
	struct continuous_part *p, void (*make_trace)(struct recording *, void *), void *context)
{
	join_part(p);
	make_trace(p->recording, context);
	recording_part_deinit(p->recording);
	free(p->recording);
	p->recording = NULL;
}

static void *run_maker(void *argument)
{
	struct continuous *k = argument;

	make_part(&k->part, k->make, k->context);
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

/*
 * Moves all slices, and the part that |cut| cuts off the recording, to k->part.
 * -ENOMEM: nothing is moved.
 */
static int cut_part(
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
	if (cut_part(k, recording_cut))
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
	if (cut_part(k, recording_cut_last))
		return -ENOMEM;
	make_part(&k->part, make_trace, context);
	return 0;
}
