/* SPDX-License-Identifier: Apache-2.0 */
/* A set of interned strings: an open-addressing hash table of their indices. */
#include "trace/model/names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"

#define MAX_NAMES (1u << 30) /* twice as many slots still fit into 32 bits */

void names_deinit(struct names *names)
{
	for (uint32_t i = 0; i < names->n_texts; i++)
		free(names->texts[i]);
	free(names->texts);
	free(names->slots);
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

/* The slot that holds |text|, or the empty one where it belongs. Needs n_slots > n_texts. */
static struct text_slot *find_slot(
	const struct names *names, uint32_t hash, const char *text, size_t n)
{
	uint32_t mask = names->n_slots - 1;
	uint32_t i = hash & mask;

	/* Comparing hashes first saves a cache miss: texts lie anywhere in memory. */
	while (names->slots[i].number &&
		(names->slots[i].hash != hash ||
			!text_equals(names->texts[names->slots[i].number - 1], text, n)))
		i = (i + 1) & mask;
	return &names->slots[i];
}

static void move_slot(struct text_slot *slots, uint32_t mask, struct text_slot slot)
{
	uint32_t i = slot.hash & mask;

	while (slots[i].number)
		i = (i + 1) & mask;
	slots[i] = slot;
}

static int grow_slots(struct names *names)
{
	uint32_t n_slots = names->n_slots ? names->n_slots * 2 : 32;
	struct text_slot *slots = calloc(n_slots, sizeof *slots);

	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < names->n_slots; i++)
		if (names->slots[i].number)
			move_slot(slots, n_slots - 1, names->slots[i]);
	free(names->slots);
	names->slots = slots;
	names->n_slots = n_slots;
	return 0;
}

static int reserve_text(struct names *names)
{
	if (names->n_texts >= MAX_NAMES)
		return -ENOMEM;
	if (grow(&names->texts, &names->n_allocated, (size_t)names->n_texts + 1))
		return -ENOMEM;
	return names->n_texts < names->n_slots / 2 ? 0 : grow_slots(names);
}

uint32_t names_intern(struct names *names, const char *text, size_t n)
{
	struct text_slot *slot;
	uint32_t hash;
	char *copy;

	n = strnlen(text, n);
	if (reserve_text(names))
		return NAMES_NONE;
	hash = hash_text(text, n);
	slot = find_slot(names, hash, text, n);
	if (slot->number)
		return slot->number - 1;
	copy = strndup(text, n);
	if (!copy)
		return NAMES_NONE;
	names->texts[names->n_texts] = copy;
	*slot = (struct text_slot){hash, ++names->n_texts};
	return slot->number - 1;
}

uint32_t names_find(const struct names *names, const char *text)
{
	return names_search(names, text, strlen(text));
}

uint32_t names_search(const struct names *names, const char *text, size_t n)
{
	const struct text_slot *slot;

	if (!names->n_slots)
		return NAMES_NONE;
	n = strnlen(text, n);
	slot = find_slot(names, hash_text(text, n), text, n);
	return slot->number ? slot->number - 1 : NAMES_NONE;
}

const char *names_get(const struct names *names, uint32_t index)
{
	return index < names->n_texts ? names->texts[index] : "";
}
