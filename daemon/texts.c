/* SPDX-License-Identifier: Apache-2.0 */
/* String ids; see texts.h. */
#include "daemon/texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/entry.h"
#include "lib/wire/arena.h"
#include "trace/space.h"

int texts_init(struct texts *texts, struct arena *arena, struct plane *plane)
{
	uint32_t used = atomic_load(&arena->strings_used);

	texts->table = arena_strings(arena);
	texts->plane = plane;
	texts->n_ids = (used < ARENA_STRINGS_BYTES ? used : ARENA_STRINGS_BYTES) / 8u;
	texts->event_name_of = calloc(texts->n_ids + 1, sizeof *texts->event_name_of);
	texts->stat_name_of = calloc(texts->n_ids + 1, sizeof *texts->stat_name_of);
	return texts->event_name_of && texts->stat_name_of ? 0 : -ENOMEM;
}

void texts_deinit(struct texts *texts)
{
	free(texts->event_name_of);
	free(texts->stat_name_of);
	memset(texts, 0, sizeof *texts);
}

/* The text of |id|, or NULL. The arena may change under us: lengths are copied. */
static const char *find_text(const struct texts *texts, uint32_t id, uint32_t *n_out)
{
	uint32_t at = id * 8u;
	uint32_t n;

	if (id == 0 || id >= texts->n_ids || at + sizeof n > ARENA_STRINGS_BYTES)
		return NULL;
	/* Read once: the target may write it meanwhile. */
	n = __atomic_load_n((const uint32_t *)(texts->table + at), __ATOMIC_RELAXED);
	if (n > ARENA_STRINGS_BYTES - at - sizeof n)
		return NULL;
	*n_out = n;
	return texts->table + at + sizeof n;
}

static uint32_t intern_id(const struct texts *texts, struct names *names, uint32_t id)
{
	char known[1024];
	uint32_t n = 0;
	const char *text = find_text(texts, id, &n);

	if (!text)
		return names_intern(names,
			id == STRING_ID_LOST ? "(too many names)" : "(unknown name)",
			id == STRING_ID_LOST ? 16 : 14);
	if (n > sizeof known)
		n = sizeof known;
	memcpy(known, text, n);
	return names_intern(names, known, n);
}

static uint32_t cached_id(
	const struct texts *texts, struct names *names, uint32_t *cache, uint32_t id)
{
	uint32_t index;

	if (id < texts->n_ids && cache[id])
		return cache[id] - 1;
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
		return names_intern(names, "(unknown name)", 14);
	text = slot_text(e->slots, e->n_slots, &n);
	return names_intern(names, text, n);
}

uint32_t texts_get_stat_name(struct texts *texts, uint32_t id)
{
	return cached_id(texts, &texts->plane->stat_names, texts->stat_name_of, id);
}
