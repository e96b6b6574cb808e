/* SPDX-License-Identifier: Apache-2.0 */
/* One field of a payload: where it lies, how it is read. */
#ifndef INJECT_NVTX_FIELD_H
#define INJECT_NVTX_FIELD_H

#include <stddef.h>
#include <stdint.h>

struct nvtx_domain;
struct nvtx_enumeration;
struct nvtx_schema;
struct writer;

enum field_kind {
	FIELD_SIGNED = 1,
	FIELD_UNSIGNED,
	FIELD_FLOAT,
	FIELD_HALF, /* IEEE's of 16 bits */
	FIELD_BRAIN, /* the upper half of a float */
	FIELD_ADDRESS,
	FIELD_TEXT, /* characters, here */
	FIELD_TEXT_POINTER, /* characters, there, up to a zero */
	FIELD_REGISTERED, /* a string that the program has registered */
	FIELD_ENUM,
	FIELD_BYTES, /* how many is all that is said */
};

enum field_extent {
	FIELD_ONE,
	FIELD_FIXED, /* |n| of them */
	FIELD_COUNTED, /* as many as the field |n| says */
	FIELD_TO_ZERO,
	FIELD_TO_END,
};

struct field {
	const char *name;
	const struct nvtx_enumeration *values; /* of FIELD_ENUM */
	uint32_t offset;
	uint32_t
		n; /* elements; or the field that counts them; of FIELD_TEXT_POINTER the bytes of a character */
	uint32_t key; /* the id of |name|, once it was written */
	uint8_t kind; /* enum field_kind */
	uint8_t extent; /* enum field_extent */
	uint8_t width; /* bytes of one element, or character */
	uint8_t is_hidden; /* nothing for people */
};

/* Kind, width and extent of the type |type| (enum nvtx_type). False: there is no such type. */
int field_from_type(struct field *f, uint64_t type);

/* The bytes of a payload that a field is in. */
struct field_source {
	const char *bytes;
	size_t n;
	const struct nvtx_schema *schema; /* with the fields that count others; NULL: none */
};

/*
 * Finds the elements of |f| and how many there are; false when they are not all within |source|, or it cannot be said. Of a
 * text up to its zero |n| is the most that it can be.
 */
int field_find(
	const struct field *f, const struct field_source *source, const char **at, size_t *n);

/* The bits of the element at |at|, signed ones extended; of floating-point ones those of a double. */
uint64_t field_get(const struct field *f, const char *at);

#endif
