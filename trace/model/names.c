/* SPDX-License-Identifier: Apache-2.0 */
/* A set of interned strings; a hash table finds their indices. */
#include "trace/model/names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

void names_deinit(struct names *names)
{
	for (uint32_t i = 0; i < names->n_texts; i++)
		free(names->texts[i]);
	free(names->texts);
	hash_table_deinit(&names->table);
	memset(names, 0, sizeof *names);
}

/*
 * The hash is seeded: the author of a trace file chooses its names, and could make plain hashes
 * collide.
 */
static uint32_t hash_text(const char *text, size_t n)
{
	const struct hash_seed *seed = hash_seed();
	uint64_t sum = seed->start ^ n;
	uint64_t word = 0;

	for (; n >= sizeof word; text += sizeof word, n -= sizeof word) {
		memcpy(&word, text, sizeof word);
		sum = hash_mix(seed, sum, word);
	}
	word = 0;
	memcpy(&word, text, n);
	return hash_end(seed, hash_mix(seed, sum, word));
}

static bool text_equals(const char *stored, const char *text, size_t n)
{
	return strncmp(stored, text, n) == 0 && stored[n] == '\0';
}

/* The slot that holds |text|, or the empty one where it belongs. The table must have slots. */
static struct hash_slot *names_find_slot(
	const struct names *names, uint32_t hash, const char *text, size_t n)
{
	struct hash_slot *slot = hash_table_first(&names->table, hash);

	/* Comparing hashes first saves a cache miss: texts lie anywhere in memory. */
	while (slot->number &&
		(slot->hash != hash || !text_equals(names->texts[slot->number - 1], text, n)))
		slot = hash_table_next(&names->table, slot);
	return slot;
}

uint32_t names_intern(struct names *names, const char *text, size_t n)
{
	struct hash_slot *slot;
	uint32_t hash;
	char *copy;

	n = strnlen(text, n);
	if (grow(&names->texts, &names->n_allocated, (size_t)names->n_texts + 1) ||
		hash_table_make_room(&names->table))
		return NAMES_NONE;
	hash = hash_text(text, n);
	slot = names_find_slot(names, hash, text, n);
	if (slot->number)
		return slot->number - 1;
	copy = strndup(text, n);
	if (!copy)
		return NAMES_NONE;
	names->texts[names->n_texts++] = copy;
	hash_table_add(&names->table, slot, hash);
	return slot->number - 1;
}

int names_add_all(struct names *to, const struct names *from)
{
	for (uint32_t i = 0; i < from->n_texts; i++)
		if (names_intern(to, from->texts[i], strlen(from->texts[i])) == NAMES_NONE)
			return -ENOMEM;
	return 0;
}

uint32_t names_find(const struct names *names, const char *text)
{
	return names_search(names, text, strlen(text));
}

uint32_t names_search(const struct names *names, const char *text, size_t n)
{
	const struct hash_slot *slot;

	if (!names->table.n_slots)
		return NAMES_NONE;
	n = strnlen(text, n);
	slot = names_find_slot(names, hash_text(text, n), text, n);
	return slot->number ? slot->number - 1 : NAMES_NONE;
}

const char *names_get(const struct names *names, uint32_t index)
{
	return index < names->n_texts ? names->texts[index] : "";
}
