/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings without an end; see continuous.h. */
#include "daemon/continuous.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/drain_cut.h"
#include "daemon/part_origin.h"
#include "daemon/recording.h"
#include "daemon/recording_cut.h"
#include "daemon/source.h"
#include "daemon/spill.h"

#define N_SLICES 16

struct slice {
	struct slice *next;
	struct drain *drains; /* a part of each source's, in their order */
	size_t n_drains;
	uint64_t n_bytes;
	int64_t from_ns; /* CLOCK_MONOTONIC */
};

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

static void free_slice(struct slice *slice)
{
	for (size_t i = 0; i < slice->n_drains; i++)
		drain_deinit(&slice->drains[i]);
	free(slice->drains);
	free(slice);
}

static void wait_for_maker(struct continuous *k)
{
	if (k->has_maker)
		pthread_join(k->maker, NULL);
	k->has_maker = 0;
}

void continuous_deinit(struct continuous *k)
{
	wait_for_maker(k);
	while (k->slices) {
		struct slice *slice = k->slices;

		k->slices = slice->next;
		free_slice(slice);
	}
}

/* Slices. */

static struct slice *new_slice(const struct recording *r)
{
	struct slice *slice = calloc(1, sizeof *slice);

	if (slice)
		slice->drains = calloc(r->n_sources, sizeof *slice->drains);
	if (!slice || !slice->drains) {
		free(slice);
		return NULL;
	}
	return slice;
}

/* What does not fit into memory stays with the recording, and is tried again. */
static void add_slice(struct continuous *k)
{
	struct recording *r = k->recording;
	struct slice *slice = new_slice(r);

	if (!slice)
		return;
	for (size_t i = 0; i < r->n_sources; i++)
		drain_cut(&r->sources[i]->drain, &slice->drains[slice->n_drains++]);
	slice->n_bytes = r->budget.used_bytes - k->sliced_bytes;
	slice->from_ns = k->slice_from_ns;
	k->sliced_bytes += slice->n_bytes;
	k->slice_from_ns = monotonic_ns();
	*k->last = slice;
	k->last = &slice->next;
}

static uint64_t count_slots(const struct drain *d)
{
	uint64_t n = 0;

	for (size_t i = 0; i < d->n_logs; i++)
		n += d->logs[i]->n_slots;
	return n;
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

		to->lost_oldest += from->lost_oldest + count_slots(from);
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
	free_slice(slice);
}

void continuous_visit(struct continuous *k)
{
	const uint64_t *used_bytes = &k->recording->budget.used_bytes;

	if (*used_bytes - k->sliced_bytes >= k->max_bytes / N_SLICES)
		add_slice(k);
	while (*used_bytes > k->max_bytes && k->slices && k->slices->next)
		drop_oldest(k);
}

/* Parts. */

/* What the part's sources hold becomes one more slice: they are empty. 0 or -ENOMEM. */
static int slice_newest(struct continuous_part *p)
{
	struct recording *r = p->recording;
	struct slice *newest = new_slice(r);
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

/* Times are since the first of all, so it is looked for before any is given away. */
static void find_extent(struct continuous_part *p, uint64_t *n_bytes)
{
	uint64_t first = part_origin_find_first_carried(p->carries, p->recording->stop.ticks);

	*n_bytes = 0;
	for (const struct slice *slice = p->slices; slice; slice = slice->next)
		for (size_t i = 0; i < slice->n_drains; i++) {
			const struct drain *d = &slice->drains[i];

			first = part_origin_find_first(d, first);
			*n_bytes += count_slots(d) * sizeof(struct slot);
		}
	part_origin_begin(p->recording, first);
}

/* Behind what the sources have; what is spooled is gone from there. */
static int join_slice(struct slice *slice, struct recording *r)
{
	int error = 0;

	for (size_t i = 0; i < slice->n_drains; i++)
		if (drain_join(&r->sources[i]->drain, &slice->drains[i]))
			error = -ENOMEM;
	return spill_give(r) ? -ENOMEM : error;
}

/* One after the other, so that what was held is let go while it is turned into events. */
static void join_slices(struct continuous_part *p)
{
	struct recording *r = p->recording;
	uint64_t n_bytes;

	if (r->n_sources && slice_newest(p))
		r->error = -ENOMEM;
	if (r->timeline.n_pairs) {
		find_extent(p, &n_bytes);
		r->budget.slot_bytes = n_bytes;
		spill_begin(r, n_bytes);
	}
	while (p->slices) {
		struct slice *slice = p->slices;

		p->slices = slice->next;
		if (join_slice(slice, r))
			r->error = -ENOMEM;
		free_slice(slice);
	}
}

static void make(
	struct continuous_part *p, void (*make_trace)(struct recording *, void *), void *context)
{
	join_slices(p);
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

int continuous_is_ready(struct continuous *k)
{
	if (k->has_maker && !atomic_load(&k->is_made))
		return 0;
	wait_for_maker(k);
	return 1;
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
