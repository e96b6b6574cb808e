/* SPDX-License-Identifier: Apache-2.0 */
/* Open async spans; see open_asyncs.h. */
#include "daemon/pipeline/assembly/open_asyncs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "daemon/pipeline/drain/rings.h"
#include "daemon/target/entry.h"
#include "daemon/target/era.h"
#include "daemon/target/ring_copy.h"
#include "daemon/target/string_table.h"
#include "daemon/target/target.h"
#include "trace/model/names.h"

/* A ring is copied again when its thread has overwritten all of it during the copy. */
#define N_TRIES 4

struct open_mark {
	struct open_async span; /* of an end only the time and the id are used */
	uint32_t name; /* index of |names| */
	uint32_t number; /* rises in the order of the records of one ring */
	bool is_end;
};

struct async_search {
	const struct target *target;
	struct open_asyncs *found;
	uint64_t now_ticks;
	uint32_t n_ids; /* of the string table */
	struct names names;
	struct open_mark *marks;
	size_t n_marks;
	size_t n_allocated;
};

/* --- marks --------------------------------------------------------------------------------- */

/* The same name may have several string ids: one for each place in the source. */
static uint32_t intern_name(struct async_search *s, const struct entry *e)
{
	const char *text = NULL;
	uint32_t n = 0;

	if (e->string_id != STRING_ID_DYNAMIC)
		text = string_table_find(s->target->arena, s->n_ids, e->string_id, &n);
	else if (e->n_slots && slot_type(e->slots[0].word[0]) == SLOT_NAME)
		text = slot_text(e->slots, e->n_slots, &n);
	return names_intern(&s->names, text ? text : "", n);
}

/* Adds the mark of an entry. Called for the entries of a ring from the newest to the oldest. */
static int add_mark(struct async_search *s, const struct entry *e, uint32_t ring)
{
	const struct slot *number = entry_number(e);
	struct open_mark mark = {
		.number = UINT32_MAX - (uint32_t)s->n_marks,
		.is_end = e->kind == RECORD_ASYNC_END,
	};

	if (!number)
		return 0;
	mark.name = intern_name(s, e);
	if (mark.name == NAMES_NONE || grow(&s->marks, &s->n_allocated, s->n_marks + 1))
		return -ENOMEM;
	mark.span = (struct open_async){
		.start = e->start,
		.id = number->word[1],
		.slots = e->slots,
		.n_slots = e->n_slots,
		.string_id = e->string_id,
		.ring = ring,
	};
	s->marks[s->n_marks++] = mark;
	return 0;
}

/* --- rings --------------------------------------------------------------------------------- */

static void note_missing(struct async_search *s, uint64_t ticks)
{
	if (ticks > s->found->complete_ticks)
		s->found->complete_ticks = ticks;
}

/*
 * Reads |n| entries, whose places are |at|, from the newest to the oldest: a record holds the low
 * 48 bits of its time, and the time of the next newer record completes them.
 */
static int add_entries(struct async_search *s, const struct slot *slots, const uint32_t *at,
	size_t n, uint32_t ring, uint64_t *oldest)
{
	uint64_t later = s->now_ticks + ERA_SKEW_TICKS;
	int r = 0;

	while (n-- && !r) {
		struct entry e;
		bool is_valid = entry_read(&e, &slots[at[n]]);
		uint64_t low = slots[at[n]].word[0] + e.duration;

		if (!is_valid)
			continue;
		later -= (later - low) & RECORD_START_MASK;
		*oldest = e.start = later;
		if (e.kind == RECORD_ASYNC_BEGIN || e.kind == RECORD_ASYNC_END)
			r = add_mark(s, &e, ring);
	}
	return r;
}

static int add_copy(
	struct async_search *s, const struct ring_copy *c, const struct slot *slots, uint32_t ring)
{
	size_t n_slots = c->end - c->from.position;
	_cleanup_free_ uint32_t *at = NULL;
	uint64_t oldest = s->now_ticks;
	size_t n = 0;
	int r;

	at = malloc((n_slots + 1) * sizeof *at);
	if (!at)
		return -ENOMEM;
	for (size_t i = 0; i < n_slots; i += 1 + record_n_extra(slots[i].word[0]))
		if (i + record_n_extra(slots[i].word[0]) < n_slots)
			at[n++] = (uint32_t)i;
	r = add_entries(s, slots, at, n, ring, &oldest);
	if (c->from.position > ring_get_first(c->ring).position)
		note_missing(s, oldest);
	return r;
}

/* Returns memory for the copy of a ring, which the list frees; NULL: out of memory. */
static struct slot *take_copy(struct open_asyncs *a, size_t n)
{
	struct slot *slots = NULL;

	if (!grow(&a->copies, &a->n_copies_allocated, a->n_copies + 1))
		slots = malloc((n + 1) * sizeof *slots);
	if (slots)
		a->copies[a->n_copies++] = slots;
	return slots;
}

/* Adds the marks of a ring. Outcomes: those of ring_copy_finish(), and -ENOMEM. */
static int try_ring(struct async_search *s, uint32_t i, size_t max_slots)
{
	struct ring_copy c;
	struct slot *slots;
	uint64_t start;
	int r = ring_copy_begin(&c, s->target, i, ring_get_first(target_ring(s->target, i)));

	if (!r)
		r = ring_copy_narrow(&c, max_slots);
	if (r)
		return r;
	start = c.start;
	slots = take_copy(s->found, c.end - c.start);
	if (!slots)
		return -ENOMEM;
	ring_copy_take(&c, slots);
	r = ring_copy_finish(&c);
	return r ? r : add_copy(s, &c, slots + (c.from.position - start), i);
}

static int search_ring(struct async_search *s, uint32_t i, size_t max_slots)
{
	struct ring *ring = target_ring(s->target, i);
	int tries = N_TRIES;
	int r;

	do
		r = try_ring(s, i, max_slots);
	while (r == RING_COPY_GONE && --tries);
	/* The lost marks may be of any time. */
	if (r > 0 || atomic_load_explicit(&ring->lost[LOSS_FULL], memory_order_relaxed) ||
		atomic_load_explicit(&ring->lost[LOSS_REENTRY], memory_order_relaxed))
		note_missing(s, s->now_ticks);
	return r < 0 ? r : 0;
}

static int search_rings(struct async_search *s, size_t max_slots)
{
	uint32_t n = 0;
	int r = 0;

	for (uint32_t i = 0; i < s->target->n_rings; i++)
		n += rings_is_recorded(s->target, i) != 0;
	for (uint32_t i = 0; i < s->target->n_rings && !r; i++)
		if (rings_is_recorded(s->target, i))
			r = search_ring(s, i, max_slots / (n ? n : 1));
	return r;
}

/* --- open spans ---------------------------------------------------------------------------- */

static int compare_marks(const void *left, const void *right)
{
	const struct open_mark *a = left, *b = right;

	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	if (a->span.id != b->span.id)
		return a->span.id < b->span.id ? -1 : 1;
	if (a->span.start != b->span.start)
		return a->span.start < b->span.start ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

/*
 * Adds the begins that no end followed. The marks at |v| all have one name and id; each end belongs
 * to the latest begin before it.
 */
static int add_open(struct open_asyncs *a, const struct open_mark *v, size_t n)
{
	size_t n_before = a->n;

	for (size_t i = 0; i < n; i++) {
		if (v[i].is_end) {
			a->n -= a->n > n_before;
			continue;
		}
		if (grow(&a->v, &a->n_allocated, a->n + 1))
			return -ENOMEM;
		a->v[a->n++] = v[i].span;
	}
	return 0;
}

static int compare_starts(const void *left, const void *right)
{
	const struct open_async *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static int collect_open(struct async_search *s)
{
	struct open_asyncs *a = s->found;
	int r = 0;

	if (s->n_marks)
		qsort(s->marks, s->n_marks, sizeof *s->marks, compare_marks);
	for (size_t i = 0, end; i < s->n_marks && !r; i = end) {
		end = i + 1;
		while (end < s->n_marks && s->marks[end].name == s->marks[i].name &&
			s->marks[end].span.id == s->marks[i].span.id)
			end++;
		r = add_open(a, &s->marks[i], end - i);
	}
	if (a->n)
		qsort(a->v, a->n, sizeof *a->v, compare_starts);
	return r;
}

int open_asyncs_find(
	struct open_asyncs *a, const struct target *t, uint64_t now_ticks, size_t max_slots)
{
	struct async_search s = {
		.target = t,
		.found = a,
		.now_ticks = now_ticks,
		.n_ids = string_table_count_ids(t->arena),
	};
	int r;

	memset(a, 0, sizeof *a);
	r = search_rings(&s, max_slots);
	/* Read after the search, so that a ring that was freed during the search counts. */
	note_missing(&s, atomic_load(&t->freed_ticks));
	if (!r)
		r = collect_open(&s);
	names_deinit(&s.names);
	free(s.marks);
	return r;
}

void open_asyncs_deinit(struct open_asyncs *a)
{
	for (size_t i = 0; i < a->n_copies; i++)
		free(a->copies[i]);
	free(a->copies);
	free(a->v);
	memset(a, 0, sizeof *a);
}
