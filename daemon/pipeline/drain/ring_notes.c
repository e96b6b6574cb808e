/* SPDX-License-Identifier: Apache-2.0 */
/* Notes about the positions of rings; see ring_notes.h. */
#include "daemon/pipeline/drain/ring_notes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "daemon/pipeline/drain/rings.h"
#include "daemon/pipeline/drain/thread_log.h"
#include "daemon/pipeline/drain/thread_window.h"
#include "daemon/target/entry.h"
#include "daemon/target/era.h"
#include "daemon/target/ring_copy.h"
#include "daemon/target/target.h"
#include "daemon/target/timeline.h"

/* Records below |position| were written before |ticks|, all others after it. */
struct ring_note {
	uint64_t position;
	uint64_t ticks;
};

/* The notes of one ring. Ticks grow from note to note; positions never fall. */
struct ring_history {
	struct ring_note *notes;
	size_t n;
	size_t n_allocated;
	bool had_thread; /* at the last reading */
	uint64_t since_ticks; /* records below the first note were written after this time */
	uint64_t begin; /* records below this position do not belong to the recorder */
};

struct ring_notes {
	bool uses_ticks;
	uint64_t read_ticks; /* taken before the last reading of the rings */
	uint32_t n_rings;
	struct ring_history of[];
};

static uint64_t read_head(const struct target *t, uint32_t i)
{
	return atomic_load_explicit(&target_ring(t, i)->head, memory_order_acquire);
}

uint64_t ring_notes_now(const struct target *t)
{
	return clock_pair_read(t->notes->uses_ticks).ticks;
}

/*
 * Drops the first note. That makes the first era longer; when it is too long, it
 * cannot date records.
 */
static void history_forget_first(struct ring_history *h)
{
	h->n--;
	memmove(h->notes, h->notes + 1, h->n * sizeof *h->notes);
}

/* A thread that writes nothing needs two notes, however much time passes: the later note moves. */
static void history_add(struct ring_history *h, struct ring_note note)
{
	size_t n = h->n;

	if (n > 1 && h->notes[n - 1].position == note.position &&
		h->notes[n - 2].position == note.position) {
		h->notes[n - 1] = note;
		return;
	}
	if (n == RING_NOTES_MAX)
		history_forget_first(h);
	if (grow(&h->notes, &h->n_allocated, h->n + 1))
		return;
	h->notes[h->n++] = note;
}

static void note_ring(struct target *t, uint32_t i)
{
	struct ring_notes *all = t->notes;
	struct ring_history *h = &all->of[i];
	struct ring_note now = {read_head(t, i), 0};

	now.ticks = ring_notes_now(t);
	if (!h->had_thread)
		h->since_ticks = all->read_ticks;
	h->had_thread = true;
	history_add(h, now);
}

/*
 * Forgets the notes of a thread that is gone: the next thread's records have higher positions than
 * these, and are later than this reading.
 */
static void history_forget(struct ring_history *h)
{
	h->had_thread = false;
	h->n = 0;
}

static void note_rings(struct target *t, uint64_t now_ticks)
{
	for (uint32_t i = 0; i < t->n_rings; i++)
		if (rings_is_used(t, i))
			note_ring(t, i);
		else if (t->notes->of[i].had_thread)
			history_forget(&t->notes->of[i]);
	t->notes->read_ticks = now_ticks;
}

int ring_notes_open(struct target *t, bool uses_ticks, uint64_t since_ticks)
{
	struct ring_notes *all = calloc(1, sizeof *all + t->n_rings * sizeof all->of[0]);

	if (!all)
		return -ENOMEM;
	all->uses_ticks = uses_ticks;
	all->n_rings = t->n_rings;
	all->read_ticks = since_ticks;
	t->notes = all;
	note_rings(t, ring_notes_now(t));
	for (uint32_t i = 0; i < t->n_rings && !since_ticks; i++)
		if (all->of[i].n)
			all->of[i].begin = all->of[i].notes[0].position;
	return 0;
}

void ring_notes_close(struct target *t)
{
	struct ring_notes *all = t->notes;

	if (!all)
		return;
	for (uint32_t i = 0; i < all->n_rings; i++)
		free(all->of[i].notes);
	free(all);
	t->notes = NULL;
}

void ring_notes_update(struct target *t, uint64_t now_ticks)
{
	if (now_ticks - t->notes->read_ticks >= ERA_INTERVAL_TICKS)
		note_rings(t, now_ticks);
}

/* --- eras of records ------------------------------------------------------------------------ */

static struct era make_era(size_t end, uint64_t after_ticks, uint64_t before_ticks)
{
	return (struct era){
		.end = end,
		.after_ticks = era_begin_before(after_ticks),
		.before_ticks = before_ticks + ERA_SKEW_TICKS,
	};
}

static uint64_t history_find_begin(const struct ring_notes *all, const struct ring_history *h)
{
	return h->had_thread ? h->since_ticks : all->read_ticks;
}

/* Finds the era in which the entry at |position| of ring |i| was written, before |now_ticks|. */
static struct era ring_notes_find_era(
	const struct target *t, uint32_t i, uint64_t position, uint64_t now_ticks)
{
	const struct ring_history *h = &t->notes->of[i];
	uint64_t after_ticks = history_find_begin(t->notes, h);

	for (size_t k = 0; k < h->n; k++) {
		if (position < h->notes[k].position)
			return make_era(0, after_ticks, h->notes[k].ticks);
		after_ticks = h->notes[k].ticks;
	}
	return make_era(0, after_ticks, now_ticks);
}

/* Appends an era, unless it would be empty. */
static void log_add_era(
	struct thread_log *log, size_t end, uint64_t after_ticks, uint64_t before_ticks)
{
	size_t begin = log->n_eras ? log->eras[log->n_eras - 1].end : 0;

	if (end > begin)
		log->eras[log->n_eras++] = make_era(end, after_ticks, before_ticks);
}

static size_t limit_to(uint64_t n, size_t n_max)
{
	return n < n_max ? (size_t)n : n_max;
}

static void log_set_eras(const struct ring_notes *all, const struct ring_history *h,
	struct thread_log *log, uint64_t now_ticks)
{
	uint64_t start = log->end - log->n_slots;
	uint64_t after_ticks = history_find_begin(all, h);

	for (size_t i = 0; i < h->n; i++) {
		if (h->notes[i].position > start)
			log_add_era(log, limit_to(h->notes[i].position - start, log->n_slots),
				after_ticks, h->notes[i].ticks);
		after_ticks = h->notes[i].ticks;
	}
	log_add_era(log, log->n_slots, after_ticks, now_ticks);
}

int ring_notes_tell(struct target *t, uint32_t i, struct thread_log *log, uint64_t now_ticks,
	struct drain_budget *budget)
{
	const struct ring_history *h = &t->notes->of[i];
	uint64_t start = log->end - log->n_slots;

	if (log->n_slots && h->begin > start)
		thread_log_forget(log, limit_to(h->begin - start, log->n_slots), budget);
	if (!log->n_slots)
		return 0;
	log->eras = calloc(h->n + 1, sizeof *log->eras);
	if (log->eras) {
		log_set_eras(t->notes, h, log, now_ticks);
		return 0;
	}
	log->lost_memory += thread_window_count(log);
	thread_log_forget(log, log->n_slots, budget);
	return -ENOMEM;
}

/* --- how far back a ring is wanted -------------------------------------------------------- */

/* True when it is certain that the entry ended before |from_ticks|. */
static bool entry_ended_before(const struct era *era, const struct slot *slots, uint64_t from_ticks)
{
	struct entry e;

	if (!era_is_known(era))
		return era->before_ticks < from_ticks;
	return entry_decode(&e, slots, era) && e.start + e.duration < from_ticks;
}

/*
 * Sets *at to the entry that is marked at |boundary|. Returns true when it ended before
 * |from_ticks|: so did all entries before it, because entries are in the order of their ends.
 */
static bool ended_before_boundary(const struct target *t, uint32_t i, uint64_t boundary,
	uint64_t from_ticks, struct ring_place *at)
{
	struct slot slots[1 + RECORD_MAX_EXTRA];
	struct era era;

	if (ring_copy_mark(t, i, boundary, at, slots))
		return false;
	era = ring_notes_find_era(t, i, at->position, ring_notes_now(t));
	return entry_ended_before(&era, slots, from_ticks);
}

uint64_t ring_notes_find_reach(const struct target *t, uint32_t i, uint64_t from_ticks)
{
	struct ring *ring = target_ring(t, i);
	uint64_t first = ring_get_first(ring).position;
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
	uint64_t segment = t->n_slots / RING_SEGMENTS;
	uint64_t boundary = head & ~(segment - 1);

	for (uint32_t n = 0; from_ticks && n < RING_SEGMENTS && boundary > first;
		n++, boundary -= segment) {
		struct ring_place at;

		if (ended_before_boundary(t, i, boundary, from_ticks, &at))
			return at.position;
	}
	return 0;
}
