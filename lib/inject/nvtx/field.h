/* SPDX-License-Identifier: Apache-2.0 */
/* One field of a payload: its place and its type. */
#ifndef INJECT_NVTX_FIELD_H
#define INJECT_NVTX_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nvtx_enumeration;
struct nvtx_schema;

enum field_kind {
	FIELD_SIGNED = 1,
	FIELD_UNSIGNED,
	FIELD_FLOAT,
	FIELD_HALF, /* IEEE 754, 16 bits */
	FIELD_BRAIN, /* bfloat16: the upper half of a float */
	FIELD_ADDRESS,
	FIELD_TEXT, /* characters in the payload */
	FIELD_TEXT_POINTER, /* a pointer to characters that end with a zero */
	FIELD_REGISTERED, /* a string that the program has registered */
	FIELD_ENUM,
	FIELD_BYTES, /* unreadable; only their number is recorded */
};

enum field_extent {
	FIELD_ONE,
	FIELD_FIXED, /* |n| elements */
	FIELD_COUNTED, /* the field |n| holds the number of elements */
	FIELD_TO_ZERO,
	FIELD_TO_END,
};

struct field {
	const char *name;
	const struct nvtx_enumeration *values; /* only FIELD_ENUM */
	uint32_t offset;
	/*
	 * The number of elements, or the field that counts them; for FIELD_TEXT_POINTER the bytes
	 * of a character.
	 */
	uint32_t n;
	uint32_t key; /* the string id of |name| once it was written */
	uint8_t kind; /* enum field_kind */
	uint8_t extent; /* enum field_extent */
	uint8_t width; /* bytes, of one element or character */
	uint8_t is_hidden; /* not shown */
};

/* Sets kind, width and extent for |type| (enum nvtx_type). False: the type is unknown. */
bool field_from_type(struct field *f, uint64_t type);

/* The payload that a field lies in. */
struct field_source {
	const char *bytes;
	size_t n;
	const struct nvtx_schema *schema; /* has the fields that count others; NULL: none */
};

/*
 * Finds the elements of |f| and their number. False if they are not all within |source|, or the
 * number is unknown. For a text that ends with a zero |n| is the upper bound.
 */
bool field_find(
	const struct field *f, const struct field_source *source, const char **at, size_t *n);

/*
 * The bits of the element at |at|: signed ones are extended, floating-point ones are converted to
 * double.
 */
uint64_t field_get(const struct field *f, const char *at);

#endif
