/* SPDX-License-Identifier: Apache-2.0 */
/* Where rings were at which time; see ring_notes.h. */
#include "daemon/pipeline/drain/ring_notes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "daemon/pipeline/drain/rings.h"
#include "daemon/pipeline/drain/thread_log.h"
#include "daemon/pipeline/drain/thread_window.h"
#include "daemon/target/target.h"
#include "daemon/target/timeline.h"

/* What is below |position| was written before |ticks|, what is not, after it. */
struct ring_note {
	uint64_t position;
	uint64_t ticks;
};

/* Of one ring. Between its notes positions grow, and so do ticks. */
struct history {
	struct ring_note *notes;
	size_t n;
	size_t n_allocated;
	int had_thread; /* at the last look */
	uint64_t since_ticks; /* what is below the first note was written after it */
	uint64_t begin; /* what is below is not the recorder's */
};

struct ring_notes {
	int uses_ticks;
	uint64_t looked_ticks; /* before the last look */
	uint32_t n_rings;
	struct history of[];
};

static uint64_t get_head(const struct target *t, uint32_t i)
{
	return atomic_load_explicit(&target_ring(t, i)->head, memory_order_acquire);
}

uint64_t ring_notes_now(const struct target *t)
{
	return clock_pair_read(t->notes->uses_ticks).ticks;
}

/* Without it the first era is longer, too long perhaps: then it is not known. */
static void forget_first(struct history *h)
{
	h->n--;
	memmove(h->notes, h->notes + 1, h->n * sizeof *h->notes);
}

/* Of a thread that wrote nothing two notes do, whatever the time that passes. */
static void add(struct history *h, struct ring_note note)
{
	size_t n = h->n;

	if (n > 1 && h->notes[n - 1].position == note.position &&
		h->notes[n - 2].position == note.position) {
		h->notes[n - 1] = note;
		return;
	}
	if (n == RING_NOTES_MAX)
		forget_first(h);
	if (grow(&h->notes, &h->n_allocated, h->n + 1))
		return;
	h->notes[h->n++] = note;
}

static void note(struct target *t, uint32_t i)
{
	struct ring_notes *all = t->notes;
	struct history *h = &all->of[i];
	struct ring_note now = {get_head(t, i), 0};

	now.ticks = ring_notes_now(t);
	if (!h->had_thread)
		h->since_ticks = all->looked_ticks;
	h->had_thread = 1;
	add(h, now);
}

/* The next thread's records are behind what was noted, and later than this look. */
static void lose(struct history *h)
{
	h->had_thread = 0;
	h->n = 0;
}

static void look(struct target *t, uint64_t now_ticks)
{
	for (uint32_t i = 0; i < t->n_rings; i++)
		if (rings_is_used(t, i))
			note(t, i);
		else if (t->notes->of[i].had_thread)
			lose(&t->notes->of[i]);
	t->notes->looked_ticks = now_ticks;
}

int ring_notes_open(struct target *t, int uses_ticks, uint64_t since_ticks)
{
	struct ring_notes *all = calloc(1, sizeof *all + t->n_rings * sizeof all->of[0]);

	if (!all)
		return -ENOMEM;
	all->uses_ticks = uses_ticks;
	all->n_rings = t->n_rings;
	all->looked_ticks = since_ticks;
	t->notes = all;
	look(t, ring_notes_now(t));
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

void ring_notes_look(struct target *t, uint64_t now_ticks)
{
	if (now_ticks - t->notes->looked_ticks >= ERA_INTERVAL_TICKS)
		look(t, now_ticks);
}

/* --- what a log is told --------------------------------------------------------------------- */

static struct era make_era(size_t end, uint64_t after_ticks, uint64_t before_ticks)
{
	return (struct era){
		.end = end,
		.after_ticks = era_begin_before(after_ticks),
		.before_ticks = before_ticks + ERA_SKEW_TICKS,
	};
}

static uint64_t find_after(const struct ring_notes *all, const struct history *h)
{
	return h->had_thread ? h->since_ticks : all->looked_ticks;
}

struct era ring_notes_find_era(
	const struct target *t, uint32_t i, uint64_t position, uint64_t now_ticks)
{
	const struct history *h = &t->notes->of[i];
	uint64_t after_ticks = find_after(t->notes, h);

	for (size_t k = 0; k < h->n; k++) {
		if (position < h->notes[k].position)
			return make_era(0, after_ticks, h->notes[k].ticks);
		after_ticks = h->notes[k].ticks;
	}
	return make_era(0, after_ticks, now_ticks);
}

/* Nothing where it would be empty. */
static void push(struct thread_log *log, size_t end, uint64_t after_ticks, uint64_t before_ticks)
{
	size_t begin = log->n_eras ? log->eras[log->n_eras - 1].end : 0;

	if (end > begin)
		log->eras[log->n_eras++] = make_era(end, after_ticks, before_ticks);
}

static size_t limit(uint64_t n, size_t n_max)
{
	return n < n_max ? (size_t)n : n_max;
}

static void tell(const struct ring_notes *all, const struct history *h, struct thread_log *log,
	uint64_t now_ticks)
{
	uint64_t start = log->end - log->n_slots;
	uint64_t after_ticks = find_after(all, h);

	for (size_t i = 0; i < h->n; i++) {
		if (h->notes[i].position > start)
			push(log, limit(h->notes[i].position - start, log->n_slots), after_ticks,
				h->notes[i].ticks);
		after_ticks = h->notes[i].ticks;
	}
	push(log, log->n_slots, after_ticks, now_ticks);
}

int ring_notes_tell(struct target *t, uint32_t i, struct thread_log *log, uint64_t now_ticks,
	struct drain_budget *budget)
{
	const struct history *h = &t->notes->of[i];
	uint64_t start = log->end - log->n_slots;

	if (log->n_slots && h->begin > start)
		thread_log_forget(log, limit(h->begin - start, log->n_slots), budget);
	if (!log->n_slots)
		return 0;
	log->eras = calloc(h->n + 1, sizeof *log->eras);
	if (log->eras) {
		tell(t->notes, h, log, now_ticks);
		return 0;
	}
	log->lost_memory += thread_window_count(log);
	thread_log_forget(log, log->n_slots, budget);
	return -ENOMEM;
}
