/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layouts that a program has registered: structs with their fields, and enumerations. A readable
 * schema is a struct as in C, of numbers, texts, enumerations, other such structs, and arrays of
 * numbers; its last field may have any length. Of other payloads (unions, offsets into other
 * payloads) only the number of bytes is recorded.
 *
 * Threads: any.
 */
#ifndef INJECT_NVTX_SCHEMA_H
#define INJECT_NVTX_SCHEMA_H

#include <stdint.h>

#include "lib/inject/nvtx/field.h"
#include "lib/inject/nvtx/store.h"

struct nvtx_domain;
struct nvtx_enum_attributes;
struct nvtx_schema_attributes;

/* Further fields are ignored. */
#define SCHEMA_MAX_FIELDS 64u

/* The head of a schema and of an enumeration: they share one space of ids. */
struct nvtx_layout {
	struct shelf_item item;
	const struct nvtx_domain *domain;
	uint64_t id;
	bool is_enumeration;
};

struct nvtx_schema {
	struct nvtx_layout layout;
	uint32_t size; /* bytes; 0: varies */
	uint32_t alignment;
	uint32_t n_fields; /* 0: the schema cannot be read */
	uint32_t message; /* the field with the event's name, from 1 on; 0: none */
	struct field fields[];
};

struct nvtx_enumeration {
	struct nvtx_layout layout;
	uint32_t width;
	uint32_t n_values;
	struct {
		const char *name;
		uint64_t value;
	} values[];
};

/* Both return the id, or 0: the attributes are invalid, or no memory is left. */
uint64_t nvtx_schema_register(
	const struct nvtx_domain *domain, const struct nvtx_schema_attributes *attributes);
uint64_t nvtx_enumeration_register(
	const struct nvtx_domain *domain, const struct nvtx_enum_attributes *attributes);

/* Returns NULL for an unknown id. Lifetime: the process's. */
struct nvtx_schema *nvtx_schema_find(const struct nvtx_domain *domain, uint64_t id);

/* The name of |value|, or NULL. */
const char *nvtx_enumeration_get(const struct nvtx_enumeration *e, uint64_t value);

#endif
