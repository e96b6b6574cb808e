/* SPDX-License-Identifier: Apache-2.0 */
/* Interned strings in an open-addressing table of indices; see names.h. */
#include "trace/names.h"

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

/* Whoever writes a trace file chooses the names in it. */
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

static int text_equals(const char *stored, const char *text, size_t n)
{
	return strncmp(stored, text, n) == 0 && stored[n] == '\0';
}

/* The slot that holds |text|, or the empty one where it belongs. Needs n_slots > n_texts. */
static uint32_t *find_slot(const struct names *names, const char *text, size_t n)
{
	uint32_t mask = names->n_slots - 1;
	uint32_t i = hash_text(text, n) & mask;

	while (names->slots[i] && !text_equals(names->texts[names->slots[i] - 1], text, n))
		i = (i + 1) & mask;
	return &names->slots[i];
}

static int grow_slots(struct names *names)
{
	uint32_t n_slots = names->n_slots ? names->n_slots * 2 : 32;
	uint32_t *slots = calloc(n_slots, sizeof *slots);

	if (!slots)
		return 0;
	free(names->slots);
	names->slots = slots;
	names->n_slots = n_slots;
	for (uint32_t i = 0; i < names->n_texts; i++)
		*find_slot(names, names->texts[i], strlen(names->texts[i])) = i + 1;
	return 1;
}

static int make_room(struct names *names)
{
	if (names->n_texts >= MAX_NAMES)
		return 0;
	if (grow(&names->texts, &names->n_allocated, (size_t)names->n_texts + 1))
		return 0;
	return names->n_texts < names->n_slots / 2 || grow_slots(names);
}

uint32_t names_intern(struct names *names, const char *text, size_t n)
{
	uint32_t *slot;
	char *copy;

	n = strnlen(text, n);
	if (!make_room(names))
		return NAMES_NONE;
	slot = find_slot(names, text, n);
	if (*slot)
		return *slot - 1;
	copy = strndup(text, n);
	if (!copy)
		return NAMES_NONE;
	names->texts[names->n_texts] = copy;
	*slot = ++names->n_texts;
	return *slot - 1;
}

uint32_t names_find(const struct names *names, const char *text)
{
	return names_search(names, text, strlen(text));
}

uint32_t names_search(const struct names *names, const char *text, size_t n)
{
	uint32_t *slot = names->n_slots ? find_slot(names, text, strnlen(text, n)) : NULL;

	return slot && *slot ? *slot - 1 : NAMES_NONE;
}

const char *names_get(const struct names *names, uint32_t index)
{
	return index < names->n_texts ? names->texts[index] : "";
}
