/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protobuf wire format: writes fields into room that the caller has reserved, and reads fields
 * out of untrusted bytes. A message is not a struct here: its reader walks the fields and picks by
 * tag:
 *
 *	while ((r = pb_next(&reader, &field)) > 0) {
 *		switch (field.tag) {
 *		case PB_TAG(1, PB_LEN): …
 */
#ifndef TRACE_PBWIRE_H
#define TRACE_PBWIRE_H

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum pb_wire {
	PB_VARINT = 0,
	PB_FIXED64 = 1,
	PB_LEN = 2,
	PB_FIXED32 = 5,
};

#define PB_TAG(number, wire) ((uint32_t)(number) << 3 | (wire))

#define PB_VARINT_MAX_BYTES 10
#define PB_PADDED_BYTES 5 /* size of a length that is patched later: up to 2^35 - 1 */

/* The size of |value| as a varint. */
static inline size_t pb_varint_size(uint64_t value)
{
	unsigned int top_bit = 63 - (unsigned int)__builtin_clzll(value | 1);

	return (top_bit * 9 + 73) / 64;
}

/* The writers return the position behind what they wrote; the caller has made room. */
static inline uint8_t *pb_put_varint(uint8_t *p, uint64_t value)
{
	while (value >= 0x80) {
		*p++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*p++ = (uint8_t)value;
	return p;
}

/* The means of spreading bits: shifts, or one instruction on processors that execute it fast. */
enum pb_means {
	PB_SHIFTS,
	PB_PDEP,
};

/* Finds the fastest means of this processor. */
static inline enum pb_means pb_find_means(void)
{
#if defined(__x86_64__)
	/* Zen 1 and 2 execute pdep as slow microcode. */
	if (__builtin_cpu_supports("bmi2") && !__builtin_cpu_is("amdfam17h"))
		return PB_PDEP;
#endif
	return PB_SHIFTS;
}

/* The low 56 bits of |value|, 7 to a byte, the lowest first. */
static inline uint64_t pb_spread(uint64_t value, enum pb_means means)
{
#if defined(__x86_64__)
	if (means == PB_PDEP) {
		uint64_t bytes;

		__asm__("pdep %2, %1, %0"
			: "=r"(bytes)
			: "r"(value), "r"(UINT64_C(0x7f7f7f7f7f7f7f7f)));
		return bytes;
	}
#else
	(void)means;
#endif
	value = (value & UINT64_C(0x00fffffff0000000)) << 4 | (value & 0x0fffffff);
	value = (value & UINT64_C(0x0fffc0000fffc000)) << 2 |
		(value & UINT64_C(0x00003fff00003fff));
	return (value & UINT64_C(0x3f803f803f803f80)) << 1 | (value & UINT64_C(0x007f007f007f007f));
}

/*
 * Like pb_put_varint(), for numbers whose size no branch predictor can guess. It always stores 8
 * bytes; those behind the returned position are garbage.
 */
static inline uint8_t *pb_put_wide_varint(uint8_t *p, uint64_t value, enum pb_means means)
{
	size_t n = pb_varint_size(value);
	uint64_t bytes;

	if (__builtin_expect(n > 8, 0))
		return pb_put_varint(p, value);
	/* The top bit of each byte but the last says that more bytes follow. */
	bytes = pb_spread(value, means) |
		(UINT64_C(0x8080808080808080) & ((UINT64_C(1) << 8 * (n - 1)) - 1));
	bytes = htole64(bytes);
	memcpy(p, &bytes, sizeof bytes);
	return p + n;
}

/* Writes a varint that is always PB_PADDED_BYTES long, so that it can be overwritten. */
static inline void pb_put_padded(uint8_t *p, uint64_t value)
{
	for (int i = 0; i < PB_PADDED_BYTES - 1; i++) {
		p[i] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	p[PB_PADDED_BYTES - 1] = (uint8_t)(value & 0x7f);
}

/*
 * Fills in the length of the bytes between length + 1 and |end|, for which one byte was left; moves
 * the bytes when the length takes more. Returns the new end.
 */
static inline uint8_t *pb_put_length_before(uint8_t *length, uint8_t *end)
{
	size_t n = (size_t)(end - (length + 1));

	if (__builtin_expect(n < 0x80, 1)) {
		*length = (uint8_t)n;
		return end;
	}
	memmove(length + pb_varint_size(n), length + 1, n);
	return pb_put_varint(length, n) + n;
}

static inline uint8_t *pb_put_fixed64(uint8_t *p, uint64_t value)
{
	value = htole64(value);
	memcpy(p, &value, sizeof value);
	return p + sizeof value;
}

/* Writes a varint field with its tag, also if |value| is 0. */
static inline uint8_t *pb_put_uint(uint8_t *p, uint32_t number, uint64_t value)
{
	return pb_put_varint(pb_put_varint(p, PB_TAG(number, PB_VARINT)), value);
}

/* Like pb_put_uint(), but writes the value with pb_put_wide_varint(). */
static inline uint8_t *pb_put_wide_uint_by(
	uint8_t *p, uint32_t number, uint64_t value, enum pb_means means)
{
	return pb_put_wide_varint(pb_put_varint(p, PB_TAG(number, PB_VARINT)), value, means);
}

/* Like pb_put_wide_uint_by(), always with shifts, for callers that choose no means. */
static inline uint8_t *pb_put_wide_uint(uint8_t *p, uint32_t number, uint64_t value)
{
	return pb_put_wide_uint_by(p, number, value, PB_SHIFTS);
}

struct pb_reader {
	const uint8_t *p;
	const uint8_t *end;
	const char *error; /* after -EBADMSG: what was wrong at |p| */
};

struct pb_field {
	uint32_t tag; /* PB_TAG(number, wire) */
	uint64_t value; /* set for VARINT, FIXED64 and FIXED32 */
	const uint8_t *data; /* set for LEN; points into the reader's bytes */
	size_t n_bytes;
};

static inline struct pb_reader pb_reader(const void *data, size_t n_bytes)
{
	const uint8_t *p = data;

	return (struct pb_reader){p, n_bytes ? p + n_bytes : p, NULL};
}

/* Makes a reader of the message inside a LEN field. */
static inline struct pb_reader pb_enter(const struct pb_field *field)
{
	return pb_reader(field->data, field->n_bytes);
}

static inline int pb_fail(struct pb_reader *reader, const char *error)
{
	reader->error = error;
	return -EBADMSG;
}

static inline int pb_get_varint(struct pb_reader *reader, uint64_t *value)
{
	const uint8_t *p = reader->p;
	uint64_t sum = 0;

	for (unsigned int shift = 0; shift < 70; shift += 7) {
		if (p == reader->end)
			return pb_fail(reader, "a number is cut off");
		sum |= (uint64_t)(*p & 0x7f) << shift;
		if (!(*p++ & 0x80)) {
			*value = sum;
			reader->p = p;
			return 0;
		}
	}
	return pb_fail(reader, "a number is longer than 10 bytes");
}

static inline int pb_get_fixed(struct pb_reader *reader, size_t n_bytes, uint64_t *value)
{
	uint64_t bytes = 0;

	if ((size_t)(reader->end - reader->p) < n_bytes)
		return pb_fail(reader, "a fixed-size number is cut off");
	memcpy(&bytes, reader->p, n_bytes);
	*value = le64toh(bytes);
	reader->p += n_bytes;
	return 0;
}

static inline int pb_get_len(struct pb_reader *reader, struct pb_field *field)
{
	const uint8_t *start = reader->p;
	uint64_t n_bytes;

	if (pb_get_varint(reader, &n_bytes))
		return -EBADMSG;
	if (n_bytes > (uint64_t)(reader->end - reader->p)) {
		reader->p = start;
		return pb_fail(reader, "a length goes beyond the end");
	}
	field->data = reader->p;
	field->n_bytes = (size_t)n_bytes;
	reader->p += n_bytes;
	return 0;
}

/*
 * Reads the next field: 1 and |field| is filled; 0 at the end; -EBADMSG with reader->error, and
 * reader->p at the bad place. It returns fields of every number: callers ignore those that they do
 * not know.
 */
static inline int pb_next(struct pb_reader *reader, struct pb_field *field)
{
	const uint8_t *start = reader->p;
	uint64_t tag;
	int r;

	if (reader->p == reader->end)
		return 0;
	if (pb_get_varint(reader, &tag))
		return -EBADMSG;
	*field = (struct pb_field){.tag = (uint32_t)tag};
	switch (tag & 7) {
	case PB_VARINT:
		r = pb_get_varint(reader, &field->value);
		break;
	case PB_FIXED64:
		r = pb_get_fixed(reader, 8, &field->value);
		break;
	case PB_LEN:
		r = pb_get_len(reader, field);
		break;
	case PB_FIXED32:
		r = pb_get_fixed(reader, 4, &field->value);
		break;
	default:
		r = pb_fail(reader, "a field has an unknown wire type");
		break;
	}
	if (r == 0 && (tag > UINT32_MAX || tag >> 3 == 0)) {
		reader->p = start;
		r = pb_fail(reader, "a field has an impossible number");
	}
	return r ? r : 1;
}

/*
 * True if a message of |n_message| bytes is one LEN field |tag| and nothing else. Only its first
 * |n| bytes, at |data|, are needed; too few of them give false. *head_out is the number of bytes
 * before the field's content.
 */
static inline bool pb_is_one_field(
	const uint8_t *data, size_t n, uint64_t n_message, uint32_t tag, size_t *head_out)
{
	struct pb_reader reader = pb_reader(data, n);
	uint64_t first;
	uint64_t n_bytes;

	if (pb_get_varint(&reader, &first) || first != tag || pb_get_varint(&reader, &n_bytes))
		return false;
	*head_out = (size_t)(reader.p - data);
	return n_bytes == n_message - *head_out;
}

#endif
