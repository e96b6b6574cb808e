/* SPDX-License-Identifier: Apache-2.0 */
/* Reads rings for triggers; see trigger_watch.h. */
#include "daemon/pipeline/drain/trigger_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/pages.h"
#include "daemon/pipeline/drain/rings.h"
#include "daemon/pipeline/drain/triggers.h"
#include "daemon/target/entry.h"
#include "daemon/target/ring_copy.h"
#include "daemon/target/string_table.h"
#include "daemon/target/target.h"

/* Failed copies that end a visit; as in ring_picture.c. */
#define N_TRIES 8
/*
 * The number of segments that are copied at a time. If entries are overwritten meanwhile, the rest
 * must still contain the mark of a segment.
 */
#define PIECE_SEGMENTS 2
/* A bit in |named_of| for a name that was looked up. No trigger has it. */
#define IS_KNOWN (UINT32_C(1) << 31)

_Static_assert(TRIGGERS_MAX < 32, "a bit is left");

struct trigger_watch {
	struct triggers *triggers;
	struct arena *arena;
	uint64_t *positions; /* by ring: records before it were seen */
	/* by string id: triggers about that name, and IS_KNOWN; 0: not looked up yet */
	uint32_t *named_of;
	size_t n_ids;
	size_t n_ids_allocated;
};

static size_t count_piece(const struct target *t)
{
	return t->n_slots / RING_SEGMENTS * PIECE_SEGMENTS;
}

/* Allocates the memory now, because later there may be none. */
static int triggers_make_room(struct triggers *triggers, size_t n)
{
	if (grow(&triggers->slots, &triggers->n_slots_allocated, n))
		return -ENOMEM;
	pages_make(triggers->slots, n * sizeof *triggers->slots);
	return 0;
}

int trigger_watch_open(struct target *t, struct triggers *triggers, bool is_late)
{
	struct trigger_watch *w = calloc(1, sizeof *w);

	if (w)
		w->positions = calloc(t->n_rings, sizeof *w->positions);
	if (!w || !w->positions || triggers_make_room(triggers, count_piece(t))) {
		if (w)
			free(w->positions);
		free(w);
		return -ENOMEM;
	}
	w->triggers = triggers;
	w->arena = t->arena;
	for (uint32_t i = 0; is_late && i < t->n_rings; i++)
		if (rings_is_used(t, i))
			w->positions[i] = atomic_load_explicit(
				&target_ring(t, i)->head, memory_order_acquire);
	t->watch = w;
	return 0;
}

void trigger_watch_close(struct target *t)
{
	struct trigger_watch *w = t->watch;

	if (!w)
		return;
	free(w->positions);
	free(w->named_of);
	free(w);
	t->watch = NULL;
}

/* --- names -------------------------------------------------------------------------------- */

/* Makes room for all ids of the program. False when |id| is not among them, or memory ran out. */
static bool knows_id(struct trigger_watch *w, uint32_t id)
{
	uint32_t n;

	if (id < w->n_ids)
		return true;
	n = string_table_count_ids(w->arena);
	if (id >= n || grow(&w->named_of, &w->n_ids_allocated, n))
		return false;
	memset(w->named_of + w->n_ids, 0, (n - w->n_ids) * sizeof *w->named_of);
	w->n_ids = n;
	return true;
}

static uint32_t find_by_id(const struct trigger_watch *w, uint32_t id)
{
	uint32_t n = 0;
	const char *text = string_table_find(w->arena, (uint32_t)w->n_ids, id, &n);

	return IS_KNOWN | (text ? triggers_find(w->triggers, text, n) : 0);
}

static uint32_t find_by_text(const struct trigger_watch *w, const struct entry *e)
{
	const char *text;
	uint32_t n;

	if (!e->n_slots || slot_type(e->slots[0].word[0]) != SLOT_NAME)
		return 0;
	text = slot_text(e->slots, e->n_slots, &n);
	return triggers_find(w->triggers, text, n);
}

static uint32_t find_triggers(struct trigger_watch *w, const struct entry *e)
{
	if (e->string_id == STRING_ID_DYNAMIC)
		return find_by_text(w, e);
	if (!knows_id(w, e->string_id))
		return 0;
	if (!w->named_of[e->string_id])
		w->named_of[e->string_id] = find_by_id(w, e->string_id);
	return w->named_of[e->string_id] & ~IS_KNOWN;
}

/* --- entries ------------------------------------------------------------------------------ */

static void judge_entry(struct trigger_watch *w, const struct slot *slot)
{
	struct entry e;

	if (entry_read(&e, slot))
		triggers_judge(w->triggers, &e, find_triggers(w, &e));
}

/*
 * Judges the slots of a finished copy. Returns the position of the first entry that is not whole.
 */
static uint64_t judge_entries(struct trigger_watch *w, const struct ring_copy *c)
{
	const struct slot *slots = w->triggers->slots + (c->from.position - c->start);
	size_t n = c->end - c->from.position;
	size_t i = 0;

	while (i < n) {
		size_t next = i + 1 + record_n_extra(slots[i].word[0]);

		if (next > n)
			break;
		if (triggers_want(w->triggers, slots[i].word))
			judge_entry(w, &slots[i]);
		i = next;
	}
	return c->from.position + i;
}

/* The state of a visit. */
struct watch_visit {
	uint64_t from; /* position where it begins */
	uint64_t to; /* position of the head when it begins: it ends there */
	bool is_outrun;
};

/* Finishes a copy that is begun, and judges it. Outcomes: those of ring_copy_finish(). */
static int judge_copy(struct trigger_watch *w, struct ring_copy *c, uint64_t *position)
{
	int r;

	ring_copy_take(c, w->triggers->slots);
	r = ring_copy_finish(c);
	if (!r)
		*position = judge_entries(w, c);
	return r;
}

/* Visits one piece. Outcomes: those of ring_copy_finish(). */
static int visit_piece(struct target *t, uint32_t i, struct watch_visit *v)
{
	uint64_t *position = &t->watch->positions[i];
	struct ring_place from = {*position, 0};
	struct ring_copy c;
	int r = ring_copy_begin(&c, t, i, from);
	uint64_t head = c.end;

	if (!r && head != from.position) {
		if (head - c.start > count_piece(t))
			c.end = c.start + count_piece(t);
		r = judge_copy(t->watch, &c, position);
		v->is_outrun |= r == RING_COPY_GONE || c.from.position > from.position;
	}
	/* The last entry of a hostile program may lack slots. */
	if (r == RING_COPY_BROKEN || (!r && c.end == head))
		*position = head;
	return r;
}

/* Begins where the last visit ended, or at the first record of a new thread. */
static struct watch_visit begin_visit(struct target *t, uint32_t i)
{
	struct ring *ring = target_ring(t, i);
	uint64_t first = ring_get_first(ring).position;
	uint64_t *position = &t->watch->positions[i];

	if (*position < first)
		*position = first;
	return (struct watch_visit){
		*position, atomic_load_explicit(&ring->head, memory_order_acquire), 0};
}

unsigned trigger_watch_visit(struct target *t, uint32_t i)
{
	uint32_t word = atomic_load_explicit(&target_ring(t, i)->word, memory_order_acquire);
	struct watch_visit v;
	int tries = N_TRIES;
	int r;

	if (!ring_is_same_recording(word, atomic_load(&t->arena->word)))
		return 0;
	v = begin_visit(t, i);
	do {
		r = visit_piece(t, i, &v);
		tries -= r == RING_COPY_GONE;
	} while (t->watch->positions[i] < v.to && r != RING_COPY_BROKEN && tries);
	if (r == RING_COPY_BROKEN)
		return 0;
	return v.is_outrun ? TRIGGER_WATCH_OUTRUN : (unsigned)((v.to - v.from) * 1000 / t->n_slots);
}
