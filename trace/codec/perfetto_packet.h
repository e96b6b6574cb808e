/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets of a Perfetto trace, in memory. They are written one behind the other into reserved room,
 * with pbwire.h:
 *
 *	at = packets_reserve(p, n);
 *	at = packet = packet_open(at, TRACE_PACKET);
 *	at = pb_put_uint(at, …);
 *	packets_commit(p, packet_close(packet, at));
 *
 * A message's length is written when it is closed, and takes no byte more than it needs.
 */
#ifndef TRACE_CODEC_PERFETTO_PACKET_H
#define TRACE_CODEC_PERFETTO_PACKET_H

#include <stddef.h>
#include <stdint.h>

#include "trace/xspace/pbwire.h"

struct packets {
	uint8_t *data;
	size_t n_bytes;
	size_t n_allocated;
};

#define PACKET_OPEN_BYTES 15 /* size limit of a message's tag and length */

/* Reserves |n| bytes behind the packets; NULL: out of memory. */
uint8_t *packets_reserve(struct packets *p, size_t n);
static inline void packets_commit(struct packets *p, const uint8_t *at)
{
	p->n_bytes = (size_t)(at - p->data);
}
/* Removes all packets, and frees the memory if it is more than |n_kept| bytes. */
void packets_empty(struct packets *p, size_t n_kept);

/* Begins a message; returns the place of its fields, behind one byte for the length. */
static inline uint8_t *packet_open(uint8_t *at, uint32_t number)
{
	return pb_put_varint(at, PB_TAG(number, PB_LEN)) + 1;
}

uint8_t *packet_close_long(uint8_t *begin, uint8_t *end);
/* Ends the message whose fields lie from |begin| to |end|; returns its new end. */
static inline uint8_t *packet_close(uint8_t *begin, uint8_t *end)
{
	if (__builtin_expect(end - begin > 0x7f, 0))
		return packet_close_long(begin, end);
	begin[-1] = (uint8_t)(end - begin);
	return end;
}

/* Writes a fixed64 with its tag. */
static inline uint8_t *packet_fixed64(uint8_t *at, uint32_t number, uint64_t value)
{
	return pb_put_fixed64(pb_put_varint(at, PB_TAG(number, PB_FIXED64)), value);
}

static inline uint8_t *packet_double(uint8_t *at, uint32_t number, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	return packet_fixed64(at, number, bits);
}

/* Writes a text with its tag. Bytes that belong to no character become U+FFFD. */
uint8_t *packet_text(uint8_t *at, uint32_t number, const char *text, size_t n);
/* Writes bytes as a text in base64. */
uint8_t *packet_base64(uint8_t *at, uint32_t number, const void *data, size_t n);
/* Writes an entry of interned data, which gives |text| the number |iid|. */
uint8_t *packet_interned(uint8_t *at, uint32_t number, uint64_t iid, const char *text);
/* Size limit of a text of |n| bytes without its tag and length. */
#define PACKET_TEXT_BYTES(n) (3 * (n) + 4)

#endif
