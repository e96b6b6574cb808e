/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring holds 16-byte slots. An entry is one record slot, followed by |n_extra| slots with its
 * name (run-time names) and arguments. Zero is not a valid record, slot or string id, so memory
 * that was never written, or was punched out, is never mistaken for data.
 *
 *   record  word 0:  start ticks (48 bits) | kind (4) | depth (7) | n_extra (5)
 *           word 1:  duration ticks (40 bits) | string id of the name (24 bits)
 *   slot    word 0:  string id of the key (24 bits) | type (8) | text length in bytes (32)
 *           word 1:  value; of a text: its first 8 bytes, the rest in the slots that follow
 */
#ifndef WIRE_RECORD_H
#define WIRE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#define SLOT_BYTES 16u

#define RECORD_START_BITS 48
#define RECORD_START_MASK ((UINT64_C(1) << RECORD_START_BITS) - 1)
#define RECORD_DURATION_BITS 40
#define RECORD_DURATION_MASK ((UINT64_C(1) << RECORD_DURATION_BITS) - 1)
#define RECORD_MAX_DEPTH 128u
#define RECORD_MAX_EXTRA 31u

#define STRING_ID_BITS 24
#define STRING_ID_MASK ((1u << STRING_ID_BITS) - 1)
/*
 * The name comes in the first extra slot (SLOT_NAME). No offset in the string table is this large.
 */
#define STRING_ID_DYNAMIC STRING_ID_MASK
/* The string table was full, or had no memory, when this name was first recorded. */
#define STRING_ID_LOST (STRING_ID_MASK - 1)

/* If a kind has a number, that is its first extra slot, or the one behind its run-time name. */
enum record_kind {
	RECORD_NONE = 0,
	RECORD_SPAN = 1,
	RECORD_STEP = 2, /* a span; its number is the step */
	RECORD_INSTANT = 3, /* duration 0 */
	RECORD_COUNTER = 4, /* duration 0; its number is the value */
	/* Duration 0; the number is the id (SLOT_U64). */
	RECORD_ASYNC_BEGIN = 5,
	RECORD_ASYNC_END = 6,
	RECORD_FLOW_OUT = 7,
	RECORD_FLOW_IN = 8,
	/* written by collectors; see device.h */
	RECORD_DEVICE = 9,
	RECORD_LAUNCH = 10,
	RECORD_NODE = 11,
	RECORD_KINDS
};

enum slot_type {
	SLOT_NONE = 0,
	SLOT_I64 = 1,
	SLOT_U64 = 2,
	SLOT_F64 = 3,
	SLOT_TEXT = 4,
	SLOT_POINTER = 5,
	SLOT_NAME = 6, /* a text with the entry's name */
	SLOT_DURATION = 7, /* ticks, if the duration does not fit into the record */
	SLOT_TYPES
};

struct slot {
	uint64_t word[2];
};

static inline uint64_t record_word0(
	uint64_t start_ticks, enum record_kind kind, unsigned depth, unsigned n_extra)
{
	uint64_t rest = (uint64_t)kind | (uint64_t)depth << 4 | (uint64_t)n_extra << 11;
	uint64_t rotated = start_ticks << 16 | rest;

	/* The rotation also drops the start's upper bits: cheaper than a mask. */
	return rotated >> 16 | rotated << 48;
}

static inline uint64_t record_word1(uint64_t duration_ticks, uint32_t string_id)
{
	return duration_ticks | (uint64_t)string_id << RECORD_DURATION_BITS;
}

static inline unsigned record_kind(uint64_t word0)
{
	return (unsigned)(word0 >> 48) & 15u;
}

static inline unsigned record_depth(uint64_t word0)
{
	return (unsigned)(word0 >> 52) & 127u;
}

static inline unsigned record_n_extra(uint64_t word0)
{
	return (unsigned)(word0 >> 59);
}

static inline uint64_t slot_word0(uint32_t key_id, enum slot_type type, uint32_t text_bytes)
{
	return key_id | (uint64_t)type << 24 | (uint64_t)text_bytes << 32;
}

static inline unsigned slot_type(uint64_t word0)
{
	return (unsigned)(word0 >> 24) & 255u;
}

/*
 * Returns true if the kind has a begin and an end, and is on the stack of open spans between them.
 */
static inline bool record_is_span(unsigned kind)
{
	return kind == RECORD_SPAN || kind == RECORD_STEP || kind == RECORD_LAUNCH;
}

static inline bool slot_is_text(unsigned type)
{
	return type == SLOT_TEXT || type == SLOT_NAME;
}

/* The number of slots for a text of |n| bytes, its first one included. */
static inline unsigned slot_count_for_text(uint32_t n)
{
	return n <= 8 ? 1u : 1u + (n - 8u + SLOT_BYTES - 1u) / SLOT_BYTES;
}

#endif
