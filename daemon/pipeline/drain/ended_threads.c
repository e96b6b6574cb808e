/* SPDX-License-Identifier: Apache-2.0 */
/* The records of ended threads; see ended_threads.h. */
#include "daemon/pipeline/drain/ended_threads.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/pipeline/drain/drain.h"
#include "daemon/pipeline/drain/drain_cut.h"
#include "daemon/pipeline/drain/ring_notes.h"
#include "daemon/pipeline/drain/ring_picture.h"
#include "daemon/pipeline/drain/shares.h"
#include "daemon/pipeline/drain/thread_log.h"
#include "daemon/pipeline/drain/thread_window.h"
#include "daemon/target/exit_note.h"
#include "daemon/target/target.h"

struct ended_thread {
	struct ended_thread *next; /* the next one in the order of ends */
	struct ended_threads *of; /* NULL: its process was forgotten */
	struct thread_log *log;
	uint64_t n_bytes;
};

void ended_pool_init(struct ended_pool *pool)
{
	memset(pool, 0, sizeof *pool);
	pool->last = &pool->first;
	pool->allowed_bytes = UINT64_MAX;
}

/* The time until which entries of |log| may have ended; 0: it had none. */
static uint64_t find_last_end(const struct thread_log *log)
{
	uint64_t end = thread_window_find_last_end(log);

	if (end || !(log->n_slots || log->n_overwritten || log->n_left_out || log->lost_memory))
		return end;
	return log->gone_ticks;
}

static void note_last_end(struct ended_sums *sums, uint64_t ticks)
{
	if (ticks > sums->gone_ticks)
		sums->gone_ticks = ticks;
}

/* Adds the losses and entries of |log| to the sums of its process, unless that was forgotten. */
static void count_dropped_log(struct ended_threads *of, const struct thread_log *log)
{
	if (!of)
		return;
	of->n--;
	of->sums.n_overwritten += log->n_overwritten + thread_window_count(log);
	of->sums.lost_memory += log->lost_memory + log->n_left_out;
	note_last_end(&of->sums, find_last_end(log));
	for (int k = 0; k < LOSS_KINDS; k++)
		of->sums.lost[k] += log->lost[k];
}

/* Drops the thread that the list has at |at|. */
static void pool_drop(struct ended_pool *pool, struct ended_thread **at)
{
	struct ended_thread *ended = *at;

	*at = ended->next;
	if (!ended->next)
		pool->last = at;
	pool->used_bytes -= ended->n_bytes;
	count_dropped_log(ended->of, ended->log);
	thread_log_free(ended->log);
	free(ended);
}

void ended_pool_deinit(struct ended_pool *pool)
{
	while (pool->first)
		pool_drop(pool, &pool->first);
}

/* Never drops the thread that ended last, which is often the one of interest. */
void ended_pool_limit(struct ended_pool *pool, uint64_t max_bytes)
{
	pool->max_bytes = max_bytes;
	while (pool->used_bytes > max_bytes && pool->first && pool->first->next)
		pool_drop(pool, &pool->first);
}

void ended_pool_allow(struct ended_pool *pool, uint64_t n_bytes)
{
	pool->allowed_bytes = n_bytes;
}

void ended_threads_init(struct ended_threads *e, struct ended_pool *pool, struct target *t)
{
	memset(e, 0, sizeof *e);
	e->pool = pool;
	e->target = t;
	t->ended = e;
}

void ended_threads_deinit(struct ended_threads *e)
{
	for (struct ended_thread *at = e->pool->first; at; at = at->next)
		if (at->of == e)
			at->of = NULL;
	e->target->ended = NULL;
}

void ended_threads_drop(struct ended_threads *e)
{
	struct ended_thread **at = &e->pool->first;

	while (*at)
		if ((*at)->of == e)
			pool_drop(e->pool, at);
		else
			at = &(*at)->next;
}

static void pool_append(struct ended_threads *e, struct ended_thread *ended)
{
	struct ended_pool *pool = e->pool;

	ended->of = e;
	*pool->last = ended;
	pool->last = &ended->next;
	pool->used_bytes += ended->n_bytes;
	e->n++;
	ended_pool_limit(pool, pool->max_bytes);
}

/* True when |log| has a record, an open span or a loss. */
static bool log_has_records(const struct thread_log *log)
{
	for (int k = 0; k < LOSS_KINDS; k++)
		if (log->lost[k])
			return true;
	return log->n_slots || log->n_open || log->n_overwritten || log->lost_memory ||
	       log->n_left_out;
}

/* Counts the entries of ring |i| as lost, because there is no room for them. */
static void count_unkept_ring(struct ended_threads *e, uint32_t i)
{
	e->sums.lost_memory +=
		ring_picture_count(e->target, i, atomic_load(&e->target->arena->word));
	note_last_end(&e->sums, exit_note_find_thread(e->target));
}

/* Takes a picture with eras. Outcomes: as ring_picture_take(). */
static int take_dated_picture(
	struct target *t, uint32_t i, struct drain_budget *budget, struct thread_log *log)
{
	int r = ring_picture_take(t, i, atomic_load(&t->arena->word), budget, log);

	return r ? r : ring_notes_tell(t, i, log, ring_notes_now(t), budget);
}

void ended_threads_take(struct ended_threads *e, uint32_t i)
{
	struct drain_budget budget = {.max_bytes = e->pool->allowed_bytes};
	struct ended_thread *ended = calloc(1, sizeof *ended);
	struct thread_log *log = NULL;
	int r = ended ? thread_log_new(&budget, &log) : -ENOMEM;
	bool has_room = !r;

	if (has_room)
		r = take_dated_picture(e->target, i, &budget, log);
	e->sums.n_broken += has_room && r == RING_PICTURE_BROKEN;
	if (!has_room || r < 0)
		count_unkept_ring(e, i);
	if (r || !log_has_records(log)) {
		thread_log_free(log);
		free(ended);
		return;
	}
	log->gone_ticks = exit_note_find_thread(e->target);
	ended->log = log;
	ended->n_bytes = sizeof *ended + budget.used_bytes;
	e->pool->allowed_bytes -=
		budget.used_bytes < budget.max_bytes ? budget.used_bytes : budget.max_bytes;
	pool_append(e, ended);
}

static int copy_array(void *to, const void *from, size_t n_bytes)
{
	void *copy = n_bytes ? malloc(n_bytes) : NULL;

	if (n_bytes && !copy)
		return -ENOMEM;
	if (n_bytes)
		memcpy(copy, from, n_bytes);
	memcpy(to, &copy, sizeof copy);
	return 0;
}

/* Removes the first |n| slots from the eras of |copy|. */
static void shift_eras(struct thread_log *copy, size_t n)
{
	size_t n_kept = 0;

	for (size_t i = 0; i < copy->n_eras; i++) {
		copy->eras[n_kept] = copy->eras[i];
		copy->eras[n_kept].end -= n;
		n_kept += copy->eras[i].end > n;
	}
	copy->n_eras = n_kept;
}

/* Copies the newest slots, as many as there is room for. */
static int copy_slots(
	const struct thread_log *log, struct drain_budget *budget, struct thread_log *copy)
{
	uint64_t n_max = drain_budget_count_room(budget);
	uint64_t n_passed = 0;
	size_t from =
		thread_window_pass(log, log->n_slots > n_max ? log->n_slots - n_max : 0, &n_passed);
	size_t n = log->n_slots - from;
	struct slot *room;
	int r = n ? thread_log_extend(copy, n, budget, &room) : 0;

	if (r) {
		from = log->n_slots;
		n_passed = thread_window_count(log);
	}
	copy->n_left_out += n_passed;
	shift_eras(copy, from);
	if (!r && n)
		memcpy(room, log->slots + from, n * sizeof *room);
	return r;
}

/* Sets *out to a copy of |log| with arrays of its own. */
static int copy_log(
	const struct thread_log *log, struct drain_budget *budget, struct thread_log **out)
{
	struct thread_log *copy;
	int r = thread_log_new(budget, &copy);

	if (r)
		return r;
	*copy = *log;
	copy->slots = NULL;
	copy->open = NULL;
	copy->eras = NULL;
	copy->n_slots = copy->n_allocated = 0;
	*out = copy;
	if (copy_array(&copy->open, log->open, log->n_open * sizeof *log->open) ||
		copy_array(&copy->eras, log->eras, log->n_eras * sizeof *log->eras)) {
		copy->n_open = copy->open ? copy->n_open : 0;
		copy->n_eras = 0;
		copy->lost_memory += thread_window_count(log);
		return -ENOMEM;
	}
	return copy_slots(log, budget, copy);
}

/*
 * True when the last entry, which was written before the ring was freed, may have ended at
 * |from_ticks| or later.
 */
static bool is_wanted(const struct thread_log *log, uint64_t from_ticks)
{
	return log->n_slots && log->eras[log->n_eras - 1].before_ticks >= from_ticks;
}

int ended_threads_add_shares(
	const struct ended_threads *e, uint64_t from_ticks, struct shares *shares)
{
	int r = 0;

	for (const struct ended_thread *at = e->pool->first; at && !r; at = at->next)
		if (at->of == e)
			r = shares_add(shares,
				is_wanted(at->log, from_ticks) ? at->log->n_slots : 0,
				at->log->n_open);
	return r;
}

int ended_threads_copy(const struct ended_threads *e, struct drain *d, uint64_t from_ticks)
{
	int r = 0;

	for (const struct ended_thread *at = e->pool->first; at; at = at->next) {
		struct thread_log *copy = NULL;

		if (at->of != e)
			continue;
		if (copy_log(at->log, d->budget, &copy) < 0)
			r = -ENOMEM;
		if (!copy) {
			d->lost_memory += thread_window_count(at->log);
			if (find_last_end(at->log) > d->gone_ticks)
				d->gone_ticks = find_last_end(at->log);
			continue;
		}
		thread_window_limit(copy, from_ticks, d->budget);
		if (drain_take_log(d, copy))
			r = -ENOMEM;
	}
	ended_sums_tell(&e->sums, d);
	if (e->sums.gone_ticks > d->gone_ticks)
		d->gone_ticks = e->sums.gone_ticks;
	return r;
}

void ended_sums_add(struct ended_sums *to, const struct ended_sums *sums)
{
	to->n_overwritten += sums->n_overwritten;
	to->n_broken += sums->n_broken;
	to->lost_memory += sums->lost_memory;
	for (int k = 0; k < LOSS_KINDS; k++)
		to->lost[k] += sums->lost[k];
}

void ended_sums_tell(const struct ended_sums *sums, struct drain *d)
{
	d->n_overwritten += sums->n_overwritten;
	d->n_broken += sums->n_broken;
	d->lost_memory += sums->lost_memory;
	for (int k = 0; k < LOSS_KINDS; k++)
		d->lost[k] += sums->lost[k];
}
