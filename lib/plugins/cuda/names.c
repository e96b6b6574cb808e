/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers of texts; see names.h. The main table is a hash table of texts. A small table by
 * pointer comes before it, since most records of a buffer name one of few kernels by the same
 * pointer. A text found there is compared, so a reused pointer does no harm.
 */
#include "lib/plugins/cuda/names.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 256u
/* bytes; longer texts are cut */
#define MAX_BYTES 1023u

struct name {
	uint64_t hash;
	uint32_t id;
	uint32_t n_bytes;
	char text[];
};

/* FNV-1a, eight bytes at a time. */
static uint64_t hash_text(const char *text, size_t n)
{
	uint64_t hash = UINT64_C(14695981039346656037) ^ n;
	uint64_t word;

	for (; n >= sizeof word; n -= sizeof word, text += sizeof word) {
		memcpy(&word, text, sizeof word);
		hash = (hash ^ word) * UINT64_C(1099511628211);
		hash ^= hash >> 32;
	}
	word = 0;
	memcpy(&word, text, n);
	hash = (hash ^ word) * UINT64_C(1099511628211);
	return hash ^ hash >> 29;
}

void cuda_names_begin(struct cuda_names *n, const struct ptap_collector_services *services)
{
	n->services = services;
	memset(n->n_lost, 0, sizeof n->n_lost);
	memset(n->recent, 0, sizeof n->recent);
}

static struct name **find_slot(
	struct name **slots, size_t n_slots, uint64_t hash, const char *text, size_t n_bytes)
{
	size_t i = hash & (n_slots - 1);

	while (slots[i] && !(slots[i]->hash == hash && slots[i]->n_bytes == n_bytes &&
				   memcmp(slots[i]->text, text, n_bytes) == 0))
		i = (i + 1) & (n_slots - 1);
	return &slots[i];
}

static int make_slot_room(struct cuda_names *n)
{
	size_t n_slots = n->n_slots ? 2 * n->n_slots : FIRST_SLOTS;
	struct name **slots;

	if (n->n_slots && 2 * (n->n_used + 1) <= n->n_slots)
		return 0;
	slots = calloc(n_slots, sizeof(*slots));
	if (!slots)
		return -1;
	for (size_t i = 0; i < n->n_slots; i++)
		if (n->slots[i])
			*find_slot(slots, n_slots, n->slots[i]->hash, n->slots[i]->text,
				n->slots[i]->n_bytes) = n->slots[i];
	free(n->slots);
	n->slots = slots;
	n->n_slots = n_slots;
	return 0;
}

static struct name *add_name(
	struct cuda_names *n, struct name **slot, uint64_t hash, const char *text, size_t n_bytes)
{
	struct name *name;

	if (n->n_used >= NAMES_MAX || n->text_bytes + n_bytes > NAMES_MAX_TEXT_BYTES)
		return NULL;
	name = malloc(sizeof *name + n_bytes + 1);
	if (!name)
		return NULL;
	*name = (struct name){.hash = hash, .n_bytes = (uint32_t)n_bytes};
	memcpy(name->text, text, n_bytes);
	name->text[n_bytes] = '\0';
	*slot = name;
	n->n_used++;
	n->text_bytes += n_bytes;
	return name;
}

static struct name *find_name(struct cuda_names *n, const char *text)
{
	size_t n_bytes = strnlen(text, MAX_BYTES);
	uint64_t hash = hash_text(text, n_bytes);
	struct name **slot;

	if (make_slot_room(n))
		return NULL;
	slot = find_slot(n->slots, n->n_slots, hash, text, n_bytes);
	return *slot ? *slot : add_name(n, slot, hash, text, n_bytes);
}

static uint32_t get_name_id(const struct cuda_names *n, struct name *name)
{
	if (!name->id)
		name->id = n->services->intern(name->text);
	return name->id;
}

uint32_t cuda_names_find(struct cuda_names *n, enum ptap_device_kind kind, const char *text)
{
	struct name **recent =
		&n->recent[(uintptr_t)text / 16 % (sizeof n->recent / sizeof n->recent[0])];
	struct name *name = *recent;
	uint32_t id;

	if (!name || strncmp(text, name->text, MAX_BYTES) != 0)
		name = find_name(n, text);
	id = name ? get_name_id(n, name) : 0;
	if (id)
		*recent = name;
	else
		n->n_lost[kind]++;
	return id;
}
