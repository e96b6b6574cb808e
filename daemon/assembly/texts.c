/* SPDX-License-Identifier: Apache-2.0 */
/* String ids; see texts.h. */
#include "daemon/assembly/texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/kernel/keep.h"
#include "daemon/target/entry.h"
#include "daemon/target/string_table.h"
#include "trace/space.h"

/* A text's place in a hash table, and its own pieces of heap. */
#define TEXT_COST 64

static const char left_out[] = "(too many texts)";

int texts_init(struct texts *texts, struct arena *arena, struct plane *plane)
{
	memset(texts, 0, sizeof *texts);
	texts->arena = arena;
	texts->plane = plane;
	return texts_update(texts);
}

/* Elements from |n_old| on are zero. */
static int extend(uint32_t **array, size_t n_old, size_t n)
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
	if (extend(&texts->event_name_of, texts->n_ids, (size_t)n_ids + 1) ||
		extend(&texts->stat_name_of, texts->n_ids, (size_t)n_ids + 1))
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

static int is_full(const struct texts *texts)
{
	return texts->keep && atomic_load(&texts->keep->used_bytes) >= texts->keep->max_bytes;
}

uint32_t texts_intern(struct texts *texts, struct names *names, const char *text, size_t n)
{
	uint32_t n_before = names->n_texts;
	uint32_t index;

	if (is_full(texts)) {
		index = names_search(names, text, n);
		if (index != NAMES_NONE)
			return index;
		texts->n_left_out++;
		return names_intern(names, left_out, sizeof left_out - 1);
	}
	index = names_intern(names, text, n);
	if (texts->keep && names->n_texts > n_before)
		atomic_fetch_add(&texts->keep->used_bytes, TEXT_COST + n);
	return index;
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
	return texts_intern(texts, names, known, n);
}

static uint32_t cached_id(struct texts *texts, struct names *names, uint32_t *cache, uint32_t id)
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
		return cached_id(texts, names, texts->event_name_of, e->string_id);
	if (!e->n_slots || slot_type(e->slots[0].word[0]) != SLOT_NAME)
		return texts_intern(texts, names, "(unknown name)", 14);
	text = slot_text(e->slots, e->n_slots, &n);
	return texts_intern(texts, names, text, n);
}

uint32_t texts_get_stat_name(struct texts *texts, uint32_t id)
{
	return cached_id(texts, &texts->plane->stat_names, texts->stat_name_of, id);
}
