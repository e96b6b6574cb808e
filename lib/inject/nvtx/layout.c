/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas and enumerations by their ids, and what makes an enumeration; see schema.h. What makes a schema: schema.c. */
#include "lib/inject/nvtx/layout.h"

#include <string.h>

#include "lib/inject/nvtx/payload_abi.h"
#include "lib/inject/nvtx/schema.h"
#include "lib/inject/nvtx/vocabulary.h"

static struct shelf layouts = SHELF_INIT(256);

struct layout_key {
	const struct nvtx_domain *domain;
	uint64_t id;
};

static int is_layout(const struct shelf_item *item, const void *key)
{
	const struct nvtx_layout *layout = (const struct nvtx_layout *)item;
	const struct layout_key *k = key;

	return layout->domain == k->domain && layout->id == k->id;
}

static uint64_t hash_key(const struct layout_key *key)
{
	return shelf_hash((uintptr_t)key->domain, &key->id, sizeof key->id);
}

struct nvtx_layout *nvtx_layout_find(const struct nvtx_domain *domain, uint64_t id)
{
	struct layout_key key = {domain, id};

	return (struct nvtx_layout *)shelf_find(&layouts, hash_key(&key), is_layout, &key);
}

struct nvtx_schema *nvtx_schema_find(const struct nvtx_domain *domain, uint64_t id)
{
	struct nvtx_layout *layout = nvtx_layout_find(domain, id);

	return layout && !layout->is_enumeration ? (struct nvtx_schema *)layout : NULL;
}

uint64_t nvtx_layout_add(
	struct nvtx_layout *layout, const struct nvtx_domain *domain, int has_id, uint64_t id)
{
	struct layout_key key = {
		domain, has_id && id ? id : NVTX_SCHEMA_FIRST_GIVEN + store_get_place(layout)};

	layout->domain = domain;
	layout->id = key.id;
	if (key.id < NVTX_SCHEMA_FIRST)
		return 0;
	return shelf_add(&layouts, &layout->item, hash_key(&key), is_layout, &key) == &layout->item
		       ? key.id
		       : 0;
}

const char *nvtx_layout_keep_name(const char *name)
{
	size_t n = strnlen(name, VOCABULARY_MAX_BYTES);
	char *kept = store_take(n + 1);

	if (kept)
		memcpy(kept, name, n);
	return kept;
}

/* --- enumerations -------------------------------------------------------------------------- */

#define ENUM_NEEDED (NVTX_ENUM_HAS_ENTRIES | NVTX_ENUM_HAS_N_ENTRIES | NVTX_ENUM_HAS_SIZE)

uint64_t nvtx_enumeration_register(
	const struct nvtx_domain *domain, const struct nvtx_enum_attributes *attributes)
{
	struct nvtx_enumeration *e;

	if (!attributes || (attributes->has & ENUM_NEEDED) != ENUM_NEEDED || !attributes->values ||
		!attributes->size || attributes->size > sizeof(uint64_t) ||
		attributes->n_values > STORE_MAX_PIECE / sizeof e->values[0])
		return 0;
	e = store_take(sizeof *e + attributes->n_values * sizeof e->values[0]);
	if (!e)
		return 0;
	e->layout.is_enumeration = 1;
	e->width = (uint32_t)attributes->size;
	for (size_t i = 0; i < attributes->n_values; i++) {
		const struct nvtx_enum_value *value = &attributes->values[i];

		e->values[i].name = value->name ? nvtx_layout_keep_name(value->name) : NULL;
		e->values[i].value = value->value;
	}
	e->n_values = (uint32_t)attributes->n_values;
	return nvtx_layout_add(
		&e->layout, domain, (attributes->has & NVTX_ENUM_HAS_ID) != 0, attributes->id);
}

const char *nvtx_enumeration_get(const struct nvtx_enumeration *e, uint64_t value)
{
	uint64_t mask = e->width < 8 ? (UINT64_C(1) << e->width * 8) - 1 : UINT64_MAX;

	for (uint32_t i = 0; i < e->n_values; i++)
		if ((e->values[i].value & mask) == (value & mask))
			return e->values[i].name;
	return NULL;
}
