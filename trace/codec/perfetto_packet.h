/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets of a Perfetto trace, in memory: written one behind the other into room that is made before, as pbwire.h does it,
 *
 *	at = packets_reserve(p, n);
 *	at = packet = packet_open(at, TRACE_PACKET);
 *	at = pb_put_uint(at, …);
 *	packets_commit(p, packet_close(packet, at));
 *
 * A message is closed when it is written, so that its length takes no byte more than it needs.
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

#define PACKET_OPEN_BYTES 15 /* at most, of what is around a message: a tag and a length */

/* Room for |n| bytes behind what is there; NULL: out of memory. */
uint8_t *packets_reserve(struct packets *p, size_t n);
static inline void packets_commit(struct packets *p, const uint8_t *at)
{
	p->n_bytes = (size_t)(at - p->data);
}
/* Nothing is there; room of more than |n_kept| bytes is given back. */
void packets_empty(struct packets *p, size_t n_kept);

/* Begins a message: returns where its fields go, behind one byte for the length. */
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

/* A fixed64 with its tag. */
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

/* A text with its tag. Bytes that belong to no character become U+FFFD. */
uint8_t *packet_text(uint8_t *at, uint32_t number, const char *text, size_t n);
/* Bytes in base64, as a text. */
uint8_t *packet_base64(uint8_t *at, uint32_t number, const void *data, size_t n);
/* An entry of interned data: |text| has the number |iid| from now on. */
uint8_t *packet_interned(uint8_t *at, uint32_t number, uint64_t iid, const char *text);
/* What a text takes at most, but for its tag and length. */
#define PACKET_TEXT_BYTES(n) (3 * (n) + 4)

#endif
