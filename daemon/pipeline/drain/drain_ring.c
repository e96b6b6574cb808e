/* SPDX-License-Identifier: Apache-2.0 */
/* One ring, drained; see drain_ring.h and ring_copy.h. */
#include "daemon/pipeline/drain/drain_ring.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/pipeline/drain/drain.h"
#include "daemon/pipeline/drain/rings.h"
#include "daemon/target/ring_copy.h"
#include "daemon/target/target.h"

/* As of a picture: the next visit may be the last one. */
#define N_TRIES 8

void drain_ring_begin(struct drain *d, uint32_t i, struct thread_log *log)
{
	struct ring_place first = ring_get_first(target_ring(d->target, i));
	struct ring_place at = {d->target->tail[i], 0};
	int tries = N_TRIES;

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

enum outcome {
	IS_TAKEN,
	IS_LEFT, /* for the next visit, for want of room */
	IS_GONE, /* the thread overwrote all of it meanwhile */
};

/* There is no memory for it. */
static enum outcome pass_over(
	struct drain *d, uint32_t i, struct thread_log *log, const struct ring_copy *c)
{
	struct ring_place end = {c->end, 0};

	if (ring_find_ordinal(d->target, i, &end))
		return IS_GONE;
	log->lost_memory += end.ordinal - log->ordinal;
	log->ordinal = end.ordinal;
	return IS_TAKEN;
}

/* Into |slots|, the log's. What was overwritten before it could be copied is counted. */
static enum outcome copy_to(
	struct drain *d, struct thread_log *log, struct ring_copy *c, struct slot *slots)
{
	int r;

	ring_copy_take(c, slots);
	r = ring_copy_finish(c);
	if (r) {
		thread_log_forget(log, c->end - c->start, d->budget);
		d->n_broken += r == RING_COPY_BROKEN;
		return r == RING_COPY_GONE ? IS_GONE : IS_TAKEN;
	}
	thread_log_forget(log, c->from.position - c->start, d->budget);
	log->n_overwritten += c->from.ordinal - log->ordinal;
	log->ordinal = ring_copy_count(c, slots, &log->last_record);
	log->n_entries += log->ordinal - c->from.ordinal;
	log->end = c->end;
	return IS_TAKEN;
}

static enum outcome copy_out(
	struct drain *d, uint32_t i, struct thread_log *log, struct ring_copy *c, int *error)
{
	struct slot *slots;
	int r = thread_log_extend(log, c->end - c->start, d->budget, &slots);

	if (r == THREAD_LOG_LATER)
		return IS_LEFT;
	if (r < 0)
		*error = r;
	return r ? pass_over(d, i, log, c) : copy_to(d, log, c, slots);
}

/* *n_new is how many slots there were. */
static enum outcome take_ring(
	struct drain *d, uint32_t i, struct thread_log *log, uint64_t *n_new, int *error)
{
	struct ring_place tail = {d->target->tail[i], log->ordinal};
	struct ring_copy c;
	enum outcome outcome = IS_TAKEN;

	*n_new = 0;
	/* Start again behind it. */
	if (ring_copy_begin(&c, d->target, i, tail))
		d->n_broken++;
	else
		*n_new = c.end - tail.position;
	if (*n_new)
		outcome = copy_out(d, i, log, &c, error);
	if (outcome == IS_TAKEN)
		rings_skip_to(d->target, i, c.end);
	return outcome;
}

/* Records that are nowhere; of spans alone, which other kinds of losses are, nothing is joined. */
static uint64_t count_lost(const struct thread_log *log)
{
	return log->lost[LOSS_FULL] + log->lost[LOSS_REENTRY] + log->lost_memory;
}

uint64_t drain_ring_visit(struct drain *d, uint32_t i, struct thread_log *log, int *error)
{
	uint64_t n_lost = count_lost(log);
	enum outcome outcome;
	int tries = N_TRIES;
	uint64_t n_new;

	do
		outcome = take_ring(d, i, log, &n_new, error);
	while (outcome == IS_GONE && --tries);
	if (outcome != IS_TAKEN)
		d->is_behind = 1;
	thread_log_copy_identity(log, target_ring(d->target, i));
	log->lost[LOSS_FULL] += log->n_overwritten;
	if (count_lost(log) != n_lost)
		drain_note_gap(d);
	return n_new;
}

/* Entries that the thread of ring |i|, which has no log, wrote before the tail. NULL: no memory. */
static uint64_t *get_ordinal(struct drain *d, uint32_t i)
{
	if (!d->ordinals)
		d->ordinals = calloc(d->target->n_rings, sizeof *d->ordinals);
	if (!d->ordinals)
		return NULL;
	/* Another thread's than that of the last look. */
	if (ring_get_first(target_ring(d->target, i)).position >= d->target->tail[i])
		d->ordinals[i] = 0;
	return &d->ordinals[i];
}

uint64_t drain_ring_pass_over(struct drain *d, uint32_t i, int *error)
{
	uint64_t *ordinal = get_ordinal(d, i);
	struct ring_place head;
	uint64_t before;
	int tries = N_TRIES;

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
