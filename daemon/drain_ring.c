/* SPDX-License-Identifier: Apache-2.0 */
/* One ring, drained; see drain_ring.h and ring_copy.h. */
#include "daemon/drain_ring.h"

#include "daemon/drain.h"
#include "daemon/ring_copy.h"
#include "daemon/target.h"

void drain_ring_begin(struct drain *d, uint32_t i, struct thread_log *log)
{
	struct ring_place first = ring_get_first(target_ring(d->target, i));
	struct ring_place at = {d->target->tail[i], 0};

	if (first.position > at.position)
		d->target->tail[i] = first.position;
	else if (ring_find_ordinal(d->target, i, &at))
		d->n_broken++;
	log->ordinal = at.ordinal;
}

/* The target may write up to there again. */
static void leave_ring(struct drain *d, uint32_t i, uint64_t head)
{
	d->target->tail[i] = head;
	atomic_store_explicit(&target_ring(d->target, i)->tail, head, memory_order_release);
}

/* Goes on behind what was not copied. Returns how many entries that were. */
static uint64_t pass_over(struct drain *d, uint32_t i, struct thread_log *log, uint64_t end)
{
	uint64_t before = log->ordinal;
	struct ring_place at = {end, before};

	/* If that is not known either, it is by the next mark. */
	ring_find_ordinal(d->target, i, &at);
	log->ordinal = at.ordinal;
	return at.ordinal - before;
}

/* What was overwritten before it could be copied is counted. */
static void copy_whole(struct drain *d, uint32_t i, struct thread_log *log, struct ring_copy *c,
	struct slot *slots)
{
	int r;

	ring_copy_take(c, slots);
	r = ring_copy_finish(c);
	if (r) {
		thread_log_forget(log, c->end - c->start, d->budget);
		d->n_broken += r == RING_COPY_BROKEN;
		log->n_overwritten += pass_over(d, i, log, c->end);
		return;
	}
	thread_log_forget(log, c->from.position - c->start, d->budget);
	log->n_overwritten += c->from.ordinal - log->ordinal;
	log->ordinal = ring_copy_count(c, slots);
}

/* As thread_log_extend(). */
static int copy_out(struct drain *d, uint32_t i, struct thread_log *log, struct ring_copy *c)
{
	uint64_t tail = c->from.position;
	struct slot *slots;
	int r = thread_log_extend(log, c->end - c->start, d->budget, &slots);

	if (r == THREAD_LOG_LATER)
		return r;
	if (r) {
		log->lost_memory += c->start - tail;
		pass_over(d, i, log, c->end);
		return r;
	}
	copy_whole(d, i, log, c, slots);
	return 0;
}

static void take_ring(
	struct drain *d, uint32_t i, struct thread_log *log, struct ring_copy *c, int *error)
{
	int r = c->end == c->from.position ? 0 : copy_out(d, i, log, c);

	if (r < 0)
		*error = r;
	if (r == THREAD_LOG_LATER)
		d->is_behind = 1;
	else
		leave_ring(d, i, c->end);
}

uint64_t drain_ring_visit(struct drain *d, uint32_t i, struct thread_log *log, int *error)
{
	struct ring_place tail = {d->target->tail[i], log->ordinal};
	struct ring_copy c;
	int r = ring_copy_begin(&c, d->target, i, tail);

	/* Start again behind it. */
	if (r) {
		d->n_broken++;
		leave_ring(d, i, c.end);
	} else {
		take_ring(d, i, log, &c, error);
	}
	thread_log_copy_identity(log, target_ring(d->target, i));
	log->lost[LOSS_FULL] += log->n_overwritten;
	return r ? 0 : c.end - tail.position;
}
