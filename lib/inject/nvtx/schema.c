/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registered layouts; see schema.h. A struct within another one becomes its fields, "outer.inner",
 * or "outer" if it has only one field; so one loop decodes an event.
 */
#include "lib/inject/nvtx/schema.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/inject/nvtx/payload_abi.h"
#include "lib/inject/nvtx/vocabulary.h"

/* --- layouts by their ids ------------------------------------------------------------------ */

static struct shelf layouts = SHELF_INIT(256);

struct layout_key {
	const struct nvtx_domain *domain;
	uint64_t id;
};

static bool is_layout(const struct shelf_item *item, const void *key)
{
	const struct nvtx_layout *layout = (const struct nvtx_layout *)item;
	const struct layout_key *k = key;

	return layout->domain == k->domain && layout->id == k->id;
}

static uint64_t hash_key(const struct layout_key *key)
{
	return shelf_hash((uintptr_t)key->domain, &key->id, sizeof key->id);
}

/* Returns NULL for an unknown id. Lifetime: the process's. */
static struct nvtx_layout *nvtx_layout_find(const struct nvtx_domain *domain, uint64_t id)
{
	struct layout_key key = {domain, id};

	return (struct nvtx_layout *)shelf_find(&layouts, hash_key(&key), is_layout, &key);
}

struct nvtx_schema *nvtx_schema_find(const struct nvtx_domain *domain, uint64_t id)
{
	struct nvtx_layout *layout = nvtx_layout_find(domain, id);

	return layout && !layout->is_enumeration ? (struct nvtx_schema *)layout : NULL;
}

/*
 * Registers the complete |layout| by |id|, or by a new id if the program has none. Returns the id,
 * or 0: |id| is reserved, another layout has it, or no memory is left.
 */
static uint64_t add_layout(
	struct nvtx_layout *layout, const struct nvtx_domain *domain, bool has_id, uint64_t id)
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

/* Copies |name| for good; NULL: no memory. */
static const char *keep_name(const char *name)
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

		e->values[i].name = value->name ? keep_name(value->name) : NULL;
		e->values[i].value = value->value;
	}
	e->n_values = (uint32_t)attributes->n_values;
	return add_layout(
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

/* --- schemas ------------------------------------------------------------------------------- */

#define NOT_A_FIELD UINT32_MAX

/* A schema under construction. */
struct schema_plan {
	const struct nvtx_domain *domain;
	const struct nvtx_schema_attributes *attributes;
	struct field fields[SCHEMA_MAX_FIELDS];
	uint32_t field_of[SCHEMA_MAX_FIELDS]; /* by entry: its field, or NOT_A_FIELD */
	uint32_t n_fields;
	uint32_t message;
	uint64_t cursor; /* the offset of the next field, unless its entry has one */
	uint32_t alignment;
	bool has_open_end; /* its last field has no fixed size: the next one needs an offset */
};

/* An entry's content without names: a field, or the fields of a struct. */
struct schema_piece {
	struct field field;
	const struct nvtx_schema *within; /* the struct; NULL: the piece is |field| */
	uint64_t size; /* bytes; 0: varies */
	uint32_t alignment;
};

/* --- the content of an entry --------------------------------------------------------------- */

static bool set_layout(struct schema_piece *piece, const struct nvtx_layout *layout)
{
	const struct nvtx_schema *schema = (const struct nvtx_schema *)layout;

	if (!layout)
		return false;
	if (layout->is_enumeration) {
		piece->field.kind = FIELD_ENUM;
		piece->field.values = (const struct nvtx_enumeration *)layout;
		piece->field.width = (uint8_t)piece->field.values->width;
		return true;
	}
	if (schema->n_fields == 1 && schema->fields[0].extent == FIELD_ONE &&
		!schema->fields[0].offset)
		piece->field = schema->fields[0];
	else
		piece->within = schema;
	return schema->n_fields && schema->size;
}

static bool is_string_type(uint64_t type)
{
	return type >= NVTX_TYPE_CSTRING && type <= NVTX_TYPE_CSTRING_UTF32;
}

static void point_to_text(struct field *f)
{
	f->n = f->width;
	f->kind = FIELD_TEXT_POINTER;
	f->width = sizeof(char *);
}

static bool set_array(
	const struct schema_plan *plan, struct field *f, const struct nvtx_entry *entry)
{
	const struct field *counting;

	switch (entry->flags & NVTX_ENTRY_ARRAY) {
	case NVTX_ENTRY_ARRAY_FIXED:
		f->extent = FIELD_FIXED;
		f->n = (uint32_t)entry->detail;
		return entry->detail > 0 && entry->detail < UINT32_MAX;
	case NVTX_ENTRY_ARRAY_TO_ZERO:
		f->extent = FIELD_TO_ZERO;
		return f->kind == FIELD_TEXT;
	case NVTX_ENTRY_ARRAY_COUNTED:
		if (entry->detail >= SCHEMA_MAX_FIELDS ||
			plan->field_of[entry->detail] == NOT_A_FIELD)
			return false;
		f->extent = FIELD_COUNTED;
		f->n = plan->field_of[entry->detail];
		counting = &plan->fields[f->n];
		return counting->extent == FIELD_ONE &&
		       (counting->kind == FIELD_SIGNED || counting->kind == FIELD_UNSIGNED);
	default:
		return false;
	}
}

/* False: the entry cannot be read. */
static bool set_extent(
	const struct schema_plan *plan, struct schema_piece *piece, const struct nvtx_entry *entry)
{
	struct field *f = &piece->field;
	bool is_array = (entry->flags & NVTX_ENTRY_ARRAY) != 0;

	if (entry->flags & NVTX_ENTRY_OFFSET)
		return false;
	if (entry->flags & NVTX_ENTRY_POINTER) {
		piece->within = NULL;
		if (is_string_type(entry->type))
			point_to_text(f);
		else
			*f = (struct field){.kind = FIELD_ADDRESS, .width = sizeof(void *)};
		return true;
	}
	if (is_string_type(entry->type) && !is_array) {
		f->extent = FIELD_FIXED;
		f->n = (uint32_t)entry->detail;
		if (!entry->detail) {
			f->extent = FIELD_ONE;
			point_to_text(f);
		}
		return entry->detail < UINT32_MAX;
	}
	return !is_array || (!piece->within && f->extent == FIELD_ONE && set_array(plan, f, entry));
}

static void measure_piece(struct schema_piece *piece)
{
	const struct field *f = &piece->field;

	piece->size = f->width;
	piece->alignment = f->width;
	if (piece->within) {
		piece->size = piece->within->size;
		piece->alignment = piece->within->alignment;
	} else if (f->extent == FIELD_FIXED) {
		piece->size = (uint64_t)f->width * f->n;
	} else if (f->extent != FIELD_ONE) {
		piece->size = 0;
	}
}

static bool make_piece(
	const struct schema_plan *plan, const struct nvtx_entry *entry, struct schema_piece *piece)
{
	memset(piece, 0, sizeof *piece);
	if (!field_from_type(&piece->field, entry->type) &&
		!set_layout(piece, nvtx_layout_find(plan->domain, entry->type)))
		return false;
	if (!set_extent(plan, piece, entry))
		return false;
	piece->field.key = 0;
	piece->field.is_hidden = (entry->flags & NVTX_ENTRY_HIDDEN) != 0;
	measure_piece(piece);
	return true;
}

/* --- the place of an entry ----------------------------------------------------------------- */

/* False: its offset is unknown. */
static bool place_piece(struct schema_plan *plan, const struct nvtx_entry *entry, bool is_first,
	struct schema_piece *piece)
{
	uint64_t alignment = piece->alignment;
	uint64_t cap =
		plan->attributes->has & NVTX_SCHEMA_HAS_ALIGNMENT ? plan->attributes->alignment : 0;
	uint64_t offset = entry->offset;

	if (cap && alignment > cap)
		alignment = cap;
	if (!offset && !is_first) {
		if (plan->has_open_end)
			return false;
		offset = (plan->cursor + alignment - 1) / alignment * alignment;
	}
	if (offset > UINT32_MAX / 2)
		return false;
	piece->field.offset = (uint32_t)offset;
	plan->cursor = offset + piece->size;
	plan->has_open_end = !piece->size;
	if (alignment > plan->alignment)
		plan->alignment = (uint32_t)alignment;
	return true;
}

/* An entry without a name is called "payload", or "payload.N" if there are others. */
static const char *name_entry(const struct schema_plan *plan, size_t i)
{
	const char *name = plan->attributes->entries[i].name;
	char made[VOCABULARY_MAX_BYTES + 1];

	if (name && name[0])
		return keep_name(name);
	if (plan->attributes->n_entries == 1)
		return "payload";
	snprintf(made, sizeof made, "payload.%zu", i);
	return keep_name(made);
}

static const char *join_names(const char *outer, const char *inner)
{
	char name[2 * VOCABULARY_MAX_BYTES + 2];

	snprintf(name, sizeof name, "%s.%s", outer, inner);
	return keep_name(name);
}

static bool add_field(struct schema_plan *plan, const struct field *f)
{
	if (plan->n_fields < SCHEMA_MAX_FIELDS)
		plan->fields[plan->n_fields++] = *f;
	return f->name != NULL;
}

static bool add_within(struct schema_plan *plan, const struct schema_piece *piece, const char *name)
{
	const struct nvtx_schema *within = piece->within;
	uint32_t first = plan->n_fields;

	for (uint32_t i = 0; i < within->n_fields; i++) {
		struct field f = within->fields[i];

		f.offset += piece->field.offset;
		f.key = 0;
		f.is_hidden |= piece->field.is_hidden;
		f.name = within->n_fields > 1 ? join_names(name, f.name) : name;
		if (f.extent == FIELD_COUNTED)
			f.n += first;
		if (!add_field(plan, &f))
			return false;
	}
	return true;
}

static bool add_entry(struct schema_plan *plan, size_t i)
{
	const struct nvtx_entry *entry = &plan->attributes->entries[i];
	const char *name = name_entry(plan, i);
	struct schema_piece piece;

	if (!name || !make_piece(plan, entry, &piece) || !place_piece(plan, entry, i == 0, &piece))
		return false;
	if (piece.within)
		return add_within(plan, &piece, name);
	piece.field.name = name;
	if (i < SCHEMA_MAX_FIELDS)
		plan->field_of[i] = plan->n_fields;
	if ((entry->flags & NVTX_ENTRY_ROLE) == NVTX_ENTRY_MESSAGE)
		plan->message = plan->n_fields + 1;
	return add_field(plan, &piece.field);
}

/* --- the schema ---------------------------------------------------------------------------- */

#define SCHEMA_NEEDED (NVTX_SCHEMA_HAS_TYPE | NVTX_SCHEMA_HAS_ENTRIES | NVTX_SCHEMA_HAS_N_ENTRIES)

/* A schema that cannot be read has no fields. */
static void make_plan(struct schema_plan *plan)
{
	const struct nvtx_schema_attributes *a = plan->attributes;
	bool is_readable = a->type == NVTX_SCHEMA_STATIC || a->type == NVTX_SCHEMA_DYNAMIC;

	memset(plan->field_of, 0xff, sizeof plan->field_of);
	for (size_t i = 0; i < a->n_entries && is_readable; i++)
		is_readable = add_entry(plan, i);
	if (!is_readable)
		plan->n_fields = plan->message = 0;
	if (plan->message > plan->n_fields)
		plan->message = 0;
}

static uint32_t find_schema_size(const struct schema_plan *plan)
{
	const struct nvtx_schema_attributes *a = plan->attributes;
	uint32_t alignment = plan->alignment ? plan->alignment : 1;

	if (plan->has_open_end)
		return 0;
	if (a->has & NVTX_SCHEMA_HAS_SIZE && a->size && a->size < UINT32_MAX)
		return (uint32_t)a->size;
	return (uint32_t)((plan->cursor + alignment - 1) / alignment * alignment);
}

uint64_t nvtx_schema_register(
	const struct nvtx_domain *domain, const struct nvtx_schema_attributes *attributes)
{
	struct schema_plan plan = {.domain = domain, .attributes = attributes, .alignment = 1};
	struct nvtx_schema *schema;

	if (!attributes || (attributes->has & SCHEMA_NEEDED) != SCHEMA_NEEDED ||
		!attributes->entries || !attributes->n_entries)
		return 0;
	make_plan(&plan);
	schema = store_take(sizeof *schema + plan.n_fields * sizeof schema->fields[0]);
	if (!schema)
		return 0;
	schema->size = find_schema_size(&plan);
	schema->alignment = plan.alignment;
	schema->n_fields = plan.n_fields;
	schema->message = plan.message;
	memcpy(schema->fields, plan.fields, plan.n_fields * sizeof plan.fields[0]);
	return add_layout(&schema->layout, domain, (attributes->has & NVTX_SCHEMA_HAS_ID) != 0,
		attributes->id);
}
