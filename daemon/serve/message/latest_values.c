/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Newest values; see latest_values.h. The program may write anything into the arena, so a ring is
 * copied first and examined afterwards.
 */
#include "daemon/serve/message/latest_values.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "daemon/pipeline/drain/rings.h"
#include "daemon/target/entry.h"
#include "daemon/target/era.h"
#include "daemon/target/ring_copy.h"
#include "daemon/target/string_table.h"
#include "daemon/target/target.h"

/*
 * The limit of copies of one ring: if its thread overwrites the whole copied part meanwhile, the
 * next attempt copies half as much.
 */
#define N_TRIES 4
/*
 * The limit of string ids that are remembered. Several ids may have the same name, because each
 * place in the source has an id of its own.
 */
#define MAX_IDS 256u

struct known_id {
	uint32_t id;
	struct latest_value *value; /* NULL: there was no room for it */
};

struct latest_reading {
	struct target *t;
	uint64_t now_ticks;
	struct latest_values *out;
	struct known_id ids[MAX_IDS];
	size_t n_ids;
};

/* --- names ---------------------------------------------------------------------------------- */

/*
 * Finds or adds the value with that name. Returns NULL if the name is empty or there are too many
 * names.
 */
static struct latest_value *take_value(struct latest_kind *k, const char *text, uint32_t n_text)
{
	char name[LATEST_NAME_BYTES] = "";
	struct latest_value *v;
	size_t n = n_text < sizeof name ? n_text : sizeof name - 1;

	memcpy(name, text, n);
	if (n < n_text)
		utf8_mark_cut(name, sizeof name);
	printable_clean(name);
	for (size_t i = 0; i < k->n; i++)
		if (strcmp(k->v[i].name, name) == 0)
			return &k->v[i];
	if (!name[0] || k->n == LATEST_MAX_NAMES)
		return NULL;
	v = &k->v[k->n++];
	*v = (struct latest_value){.age_ticks = UINT64_MAX};
	memcpy(v->name, name, sizeof name);
	return v;
}

static struct latest_value *find_dynamic(struct latest_kind *k, const struct entry *e)
{
	const char *text;
	uint32_t n;

	if (!e->n_slots || slot_type(e->slots[0].word[0]) != SLOT_NAME)
		return NULL;
	text = slot_text(e->slots, e->n_slots, &n);
	return take_value(k, text, n);
}

/*
 * Finds or adds the value that the entry updates. Ids of counters and steps share one table,
 * because one place in the source never records both.
 */
static struct latest_value *find_value(
	struct latest_reading *l, struct latest_kind *k, const struct entry *e)
{
	const char *text;
	struct latest_value *v;
	uint32_t n = 0;

	if (e->string_id == STRING_ID_DYNAMIC)
		return find_dynamic(k, e);
	for (size_t i = 0; i < l->n_ids; i++)
		if (l->ids[i].id == e->string_id)
			return l->ids[i].value;
	text = string_table_find(
		l->t->arena, string_table_count_ids(l->t->arena), e->string_id, &n);
	v = text ? take_value(k, text, n) : NULL;
	if (l->n_ids < MAX_IDS)
		l->ids[l->n_ids++] = (struct known_id){e->string_id, v};
	return v;
}

/* --- records -------------------------------------------------------------------------------- */

static void take_entry(struct latest_reading *l, const struct slot *record)
{
	struct latest_kind *k;
	struct latest_value *v;
	const struct slot *number;
	struct entry e;
	uint64_t age;

	if (!entry_read(&e, record) || (e.kind != RECORD_COUNTER && e.kind != RECORD_STEP))
		return;
	k = e.kind == RECORD_COUNTER ? &l->out->counters : &l->out->steps;
	number = entry_number(&e);
	v = number ? find_value(l, k, &e) : NULL;
	/* A record that was written after reading began must not seem old. */
	age = (l->now_ticks + ERA_SKEW_TICKS - (record->word[0] + e.duration)) & RECORD_START_MASK;
	if (!v)
		l->out->n_left_out++;
	if (!v || age > v->age_ticks)
		return;
	v->age_ticks = age;
	v->duration_ticks = e.duration;
	v->number = (int64_t)number->word[1];
	if (!entry_read_number(&e, &v->value))
		v->value = NAN;
}

/* Reads the entries of |c|, from the first to the last complete one. */
static void take_all(struct latest_reading *l, const struct ring_copy *c, const struct slot *slots)
{
	uint64_t at = c->from.position;

	while (at < c->end) {
		const struct slot *record = &slots[at - c->start];
		uint64_t next = at + 1 + record_n_extra(record->word[0]);

		if (next > c->end)
			break;
		take_entry(l, record);
		at = next;
	}
}

static void read_ring(struct latest_reading *l, uint32_t i, struct slot *slots)
{
	uint64_t n_max = l->t->n_slots;

	for (int k = 0; k < N_TRIES && rings_is_recorded(l->t, i); k++, n_max /= 2) {
		struct ring_copy c;
		int r = ring_copy_begin(&c, l->t, i, ring_get_first(target_ring(l->t, i)));

		if (!r && k)
			r = ring_copy_narrow(&c, n_max);
		if (!r) {
			ring_copy_take(&c, slots);
			r = ring_copy_finish(&c);
		}
		if (!r)
			take_all(l, &c, slots);
		if (r != RING_COPY_GONE)
			return;
	}
}

int latest_values_read(struct target *t, uint64_t now_ticks, struct latest_values *out)
{
	_cleanup_free_ struct latest_reading *l = calloc(1, sizeof *l);
	_cleanup_free_ struct slot *slots = malloc(t->n_slots * sizeof *slots);

	memset(out, 0, sizeof *out);
	if (!l || !slots)
		return -ENOMEM;
	l->t = t;
	l->now_ticks = now_ticks;
	l->out = out;
	for (uint32_t i = 0; i < t->n_rings; i++)
		read_ring(l, i, slots);
	return 0;
}
