/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of a drain; see drain_cut.h. Logs are in the order of their serial numbers, in a drain as
 * in its parts.
 */
#include "daemon/pipeline/drain/drain_cut.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "daemon/pipeline/drain/drain.h"
#include "daemon/target/target.h"

static bool log_has_content(const struct thread_log *log)
{
	for (int k = 0; k < LOSS_KINDS; k++)
		if (log->lost[k] != log->lost_told[k])
			return true;
	return log->n_slots || log->n_open || log->lost_memory;
}

/* The part gets the losses since the part before it. log->lost stays a total, like the ring's. */
static void move_losses(struct thread_log *log, struct thread_log *part)
{
	for (int k = 0; k < LOSS_KINDS; k++) {
		part->lost[k] = log->lost[k] - log->lost_told[k];
		log->lost_told[k] = log->lost[k];
	}
	part->lost_memory = log->lost_memory;
	log->lost_memory = 0;
}

static void move_content(struct thread_log *log, struct thread_log *part)
{
	*part = (struct thread_log){
		.serial = log->serial,
		.tid = log->tid,
		.ring = log->ring,
		.handle = log->handle,
		.is_closed = true,
		.slots = log->slots,
		.n_slots = log->n_slots,
		.n_allocated = log->n_allocated,
		.n_entries = log->n_entries,
		.eras = log->eras,
		.n_eras = log->n_eras,
		.open = log->open,
		.n_open = log->n_open,
		.gone_ticks = log->gone_ticks,
	};
	memcpy(part->name, log->name, sizeof part->name);
	move_losses(log, part);
	log->slots = NULL;
	log->eras = NULL;
	log->open = NULL;
	log->n_slots = log->n_allocated = log->last_visit = log->n_eras = 0;
	log->n_entries = 0;
	log->n_open = 0;
}

static int drain_append_log(struct drain *d, struct thread_log *log)
{
	if (grow(&d->logs, &d->n_logs_allocated, d->n_logs + 1))
		return -ENOMEM;
	d->logs[d->n_logs++] = log;
	return 0;
}

static int cut_log(struct thread_log *log, struct drain *part)
{
	struct thread_log *copy;

	if (!log_has_content(log))
		return 0;
	copy = calloc(1, sizeof *copy);
	if (!copy || drain_append_log(part, copy)) {
		free(copy);
		return -ENOMEM;
	}
	move_content(log, copy);
	return 0;
}

/* Frees the logs of threads that are gone: the part has their records. */
static void forget_closed(struct drain *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n_logs; i++) {
		struct thread_log *log = d->logs[i];

		if (log->is_closed && !log_has_content(log)) {
			thread_log_free(log);
			continue;
		}
		if (!log->is_closed)
			d->log_of_ring[log->ring] = (int32_t)n;
		d->logs[n++] = log;
	}
	d->n_logs = n;
}

/* Keeps the last gap: it may go on, and marks that wait for the next part may lie in it. */
static void keep_last_gap(struct gaps *g)
{
	if (!g->n)
		return;
	g->v[0] = g->v[g->n - 1];
	g->n = 1;
}

static void move_counts(struct drain *d, struct drain *part)
{
	uint64_t lost_no_ring = atomic_load(&d->target->arena->lost_no_ring);

	part->lost_no_ring = lost_no_ring - d->lost_no_ring_before;
	d->lost_no_ring_before = lost_no_ring;
	part->lost_memory = d->lost_memory;
	part->lost_oldest = d->lost_oldest;
	part->n_broken = d->n_broken;
	part->gaps = d->gaps;
	keep_last_gap(&d->gaps);
	d->lost_memory = d->lost_oldest = d->n_broken = d->lost_no_ring = 0;
}

int drain_cut(struct drain *d, struct drain *part)
{
	int r = 0;

	drain_init(part, d->target, d->budget);
	for (size_t i = 0; i < d->n_logs && !r; i++)
		r = cut_log(d->logs[i], part);
	forget_closed(d);
	move_counts(d, part);
	return r;
}

static void move_slots(struct thread_log *older, struct thread_log *newer)
{
	free(older->slots);
	free(older->eras);
	older->slots = newer->slots;
	older->eras = newer->eras;
	older->n_slots = newer->n_slots;
	older->n_allocated = newer->n_allocated;
	older->n_eras = newer->n_eras;
	newer->slots = NULL;
	newer->eras = NULL;
	newer->n_slots = newer->n_allocated = newer->n_eras = 0;
}

/*
 * Appends the eras of |newer| behind those of |older|. An era that was cut in two becomes one
 * again.
 */
static int join_eras(struct thread_log *older, const struct thread_log *newer)
{
	size_t n_before = older->n_eras;
	int r = 0;

	for (size_t i = 0; i < newer->n_eras && !r; i++) {
		const struct era *era = &newer->eras[i];
		struct era_clock c = {era->after_ticks, era->before_ticks, 0, 0};

		r = era_clock_tell(&c, older->n_slots + era->end, &older->eras, &older->n_eras);
	}
	if (!r)
		return 0;
	older->n_eras = n_before;
	if (n_before)
		older->eras[n_before - 1].end = older->n_slots;
	return r;
}

/* The older slots may have gone to a sink already. */
static int join_slots(struct thread_log *older, struct thread_log *newer)
{
	if (!older->n_slots) {
		move_slots(older, newer);
		return 0;
	}
	if (grow(&older->slots, &older->n_allocated, older->n_slots + newer->n_slots) ||
		join_eras(older, newer))
		return -ENOMEM;
	if (newer->n_slots)
		memcpy(older->slots + older->n_slots, newer->slots,
			newer->n_slots * sizeof *newer->slots);
	older->n_slots += newer->n_slots;
	return 0;
}

static int join_logs(struct thread_log *older, struct thread_log *newer)
{
	if (join_slots(older, newer))
		return -ENOMEM;
	older->n_entries += newer->n_entries;
	memcpy(older->name, newer->name, sizeof older->name);
	for (int k = 0; k < LOSS_KINDS; k++)
		older->lost[k] += newer->lost[k];
	older->lost_memory += newer->lost_memory;
	free(older->open);
	older->open = newer->open;
	older->n_open = newer->n_open;
	older->gone_ticks = newer->gone_ticks;
	newer->open = NULL;
	thread_log_free(newer);
	return 0;
}

static void join_counts(struct drain *older, struct drain *newer)
{
	older->lost_no_ring += newer->lost_no_ring;
	older->lost_memory += newer->lost_memory;
	older->lost_oldest += newer->lost_oldest;
	older->n_broken += newer->n_broken;
	/* Both parts may have the same gap, but only the newer one knows when it ended. */
	if (newer->gaps.n)
		gaps_end(&older->gaps, newer->gaps.v[0].until);
	for (size_t i = 0; i < newer->gaps.n; i++)
		gaps_add(&older->gaps, newer->gaps.v[i].from, newer->gaps.v[i].until);
}

/* Writes the logs of |older| and |newer| to |to|, which has the room, in order of their serials. */
static size_t merge_logs(
	struct drain *older, struct drain *newer, struct thread_log **to, int *error)
{
	size_t n = 0;
	size_t i = 0;
	size_t k = 0;

	while (i < older->n_logs || k < newer->n_logs) {
		uint64_t a = i < older->n_logs ? older->logs[i]->serial : UINT64_MAX;
		uint64_t b = k < newer->n_logs ? newer->logs[k]->serial : UINT64_MAX;

		to[n++] = a <= b ? older->logs[i++] : newer->logs[k++];
		if (a != b)
			continue;
		if (join_logs(to[n - 1], newer->logs[k])) {
			thread_log_free(newer->logs[k]);
			*error = -ENOMEM;
		}
		k++;
	}
	return n;
}

int drain_join(struct drain *older, struct drain *newer)
{
	size_t n = older->n_logs + newer->n_logs;
	struct thread_log **logs = calloc(n + 1, sizeof(struct thread_log *));
	int r = 0;

	join_counts(older, newer);
	if (!logs) {
		drain_deinit(newer);
		return -ENOMEM;
	}
	n = merge_logs(older, newer, logs, &r);
	free(older->logs);
	older->logs = logs;
	older->n_logs = n;
	older->n_logs_allocated = n;
	newer->n_logs = 0;
	drain_deinit(newer);
	return r;
}

int drain_take_log(struct drain *d, struct thread_log *log)
{
	int r = drain_append_log(d, log);

	log->is_closed = true;
	if (r)
		thread_log_free(log);
	return r;
}
