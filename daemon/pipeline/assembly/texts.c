/* SPDX-License-Identifier: Apache-2.0 */
/* String ids; see texts.h. */
#include "daemon/pipeline/assembly/texts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/kernel/memory_budget.h"
#include "daemon/target/entry.h"
#include "daemon/target/string_table.h"
#include "trace/model/space.h"

/* The cost of a text besides its bytes: a place in a hash table, and its own pieces of heap. */
#define TEXT_COST 64

static const char left_out[] = "\u2026";

/* Texts may take this part of the memory budget |keep|. */
#define TEXT_SHARE 2
/* Names of the program's own table, which are few, may take this part in addition. */
#define KNOWN_SHARE 8
/*
 * When texts take this part or more, a new value is stored with its event only. Most values that
 * repeat are in the table by then.
 */
#define VALUE_SHARE 8
#define MAX_VALUE_BYTES (UINT64_C(8) << 20)

int texts_init(struct texts *texts, struct arena *arena, struct plane *plane)
{
	memset(texts, 0, sizeof *texts);
	texts->arena = arena;
	texts->plane = plane;
	return texts_update(texts);
}

/* Extends |*array| to |n| elements; those from |n_old| on are zero. */
static int extend_table(uint32_t **array, size_t n_old, size_t n)
{
	uint32_t *longer = reallocarray(*array, n, sizeof *longer);

	if (!longer)
		return -ENOMEM;
	memset(longer + n_old, 0, (n - n_old) * sizeof *longer);
	*array = longer;
	return 0;
}

int texts_update(struct texts *texts)
{
	uint32_t n_ids = string_table_count_ids(texts->arena);

	if (texts->event_name_of && n_ids <= texts->n_ids)
		return 0;
	if (extend_table(&texts->event_name_of, texts->n_ids, (size_t)n_ids + 1) ||
		extend_table(&texts->stat_name_of, texts->n_ids, (size_t)n_ids + 1))
		return -ENOMEM;
	texts->n_ids = n_ids;
	return 0;
}

void texts_deinit(struct texts *texts)
{
	free(texts->event_name_of);
	free(texts->stat_name_of);
	memset(texts, 0, sizeof *texts);
}

uint64_t texts_find_limit(const struct memory_budget *keep)
{
	return keep->max_bytes / TEXT_SHARE;
}

/*
 * True when a new text of |n| bytes fits into |limit|, the bound of all texts, and into
 * |max_bytes|, the bound of all data that stays in memory.
 */
static bool has_room_for_text(
	const struct memory_budget *keep, size_t n, uint64_t limit, uint64_t max_bytes)
{
	return atomic_load(&keep->text_bytes) + TEXT_COST + n <= limit &&
	       atomic_load(&keep->used_bytes) + TEXT_COST + n <= max_bytes;
}

static uint32_t add_text(struct texts *texts, struct names *names, const char *text, size_t n)
{
	uint32_t n_before = names->n_texts;
	uint32_t index = names_intern(names, text, n);

	if (texts->keep && names->n_texts > n_before) {
		atomic_fetch_add(&texts->keep->text_bytes, TEXT_COST + n);
		atomic_fetch_add(&texts->keep->used_bytes, TEXT_COST + n);
	}
	return index;
}

static uint32_t leave_text_out(struct texts *texts, struct names *names, const char *text, size_t n)
{
	uint32_t index = names_search(names, text, n);

	if (index != NAMES_NONE)
		return index;
	texts->n_left_out++;
	return names_intern(names, left_out, sizeof left_out - 1);
}

uint32_t texts_intern(struct texts *texts, struct names *names, const char *text, size_t n)
{
	const struct memory_budget *keep = texts->keep;

	if (!keep || has_room_for_text(keep, n, texts_find_limit(keep), keep->max_bytes))
		return add_text(texts, names, text, n);
	return leave_text_out(texts, names, text, n);
}

/*
 * Interns a name of the program's table, which gets room even if other texts have used up theirs.
 */
static uint32_t intern_known(struct texts *texts, struct names *names, const char *text, size_t n)
{
	const struct memory_budget *keep = texts->keep;

	if (!keep || has_room_for_text(keep, n,
			     texts_find_limit(keep) + keep->max_bytes / KNOWN_SHARE, UINT64_MAX))
		return add_text(texts, names, text, n);
	return leave_text_out(texts, names, text, n);
}

static bool has_own_values(const struct texts *texts)
{
	uint64_t share = texts->keep ? texts->keep->max_bytes / VALUE_SHARE : UINT64_MAX;

	return texts->keep && atomic_load(&texts->keep->text_bytes) >=
				      (share < MAX_VALUE_BYTES ? share : MAX_VALUE_BYTES);
}

int texts_set_value(struct texts *texts, struct trace_stat *stat, const char *text, size_t n)
{
	struct plane *plane = texts->plane;
	bool may_be_own = has_own_values(texts);
	uint32_t index = may_be_own ? names_search(&plane->stat_names, text, n) : NAMES_NONE;

	stat->type = STAT_STRING;
	stat->is_own_text = may_be_own && index == NAMES_NONE;
	if (stat->is_own_text)
		index = plane_add_own_text(plane, text, n);
	else if (!may_be_own)
		index = texts_intern(texts, &plane->stat_names, text, n);
	stat->value.string = index;
	return index == NAMES_NONE ? -ENOMEM : 0;
}

static uint32_t intern_id(struct texts *texts, struct names *names, uint32_t id)
{
	char known[1024];
	uint32_t n = 0;
	const char *text = string_table_find(texts->arena, texts->n_ids, id, &n);

	if (!text)
		return texts_intern(texts, names,
			id == STRING_ID_LOST ? "(too many names)" : "(unknown name)",
			id == STRING_ID_LOST ? 16 : 14);
	if (n > sizeof known)
		n = sizeof known;
	memcpy(known, text, n);
	return intern_known(texts, names, known, n);
}

static uint32_t intern_cached_id(
	struct texts *texts, struct names *names, uint32_t *cache, uint32_t id)
{
	uint32_t index;

	if (id < texts->n_ids && cache[id])
		return cache[id] - 1;
	texts->n_nameless += id == STRING_ID_LOST;
	index = intern_id(texts, names, id);
	if (index != NAMES_NONE && id < texts->n_ids)
		cache[id] = index + 1;
	return index;
}

uint32_t texts_get_event_name(struct texts *texts, const struct entry *e)
{
	struct names *names = &texts->plane->event_names;
	uint32_t n;
	const char *text;

	if (e->string_id != STRING_ID_DYNAMIC)
		return intern_cached_id(texts, names, texts->event_name_of, e->string_id);
	if (!e->n_slots || slot_type(e->slots[0].word[0]) != SLOT_NAME)
		return texts_intern(texts, names, "(unknown name)", 14);
	text = slot_text(e->slots, e->n_slots, &n);
	return texts_intern(texts, names, text, n);
}

uint32_t texts_get_stat_name(struct texts *texts, uint32_t id)
{
	return intern_cached_id(texts, &texts->plane->stat_names, texts->stat_name_of, id);
}
