/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps packets in memory, and writes texts into them. */
#include "trace/codec/perfetto_packet.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/utf8.h"
#include "trace/codec/arg_json.h"
#include "trace/codec/perfetto_fields.h"

uint8_t *packets_reserve(struct packets *p, size_t n)
{
	if (grow(&p->data, &p->n_allocated, p->n_bytes + n))
		return NULL;
	return p->data + p->n_bytes;
}

void packets_empty(struct packets *p, size_t n_kept)
{
	p->n_bytes = 0;
	if (p->n_allocated <= n_kept)
		return;
	free(p->data);
	*p = (struct packets){NULL};
}

uint8_t *packet_close_long(uint8_t *begin, uint8_t *end)
{
	size_t n = (size_t)(end - begin);
	size_t more = pb_varint_size(n) - 1;

	memmove(begin + more, begin, n);
	pb_put_varint(begin - 1, n);
	return end + more;
}

/* --- texts --------------------------------------------------------------------------------- */

static bool is_ascii(const char *text, size_t n)
{
	unsigned char all = 0;

	for (size_t i = 0; i < n; i++)
		all |= (unsigned char)text[i];
	return all < 0x80;
}

static uint8_t *put_characters(uint8_t *at, const char *text, size_t n)
{
	const char *shown;
	size_t n_shown;

	for (size_t i = 0; i < n; at = mempcpy(at, shown, n_shown))
		i += utf8_next(text + i, n - i, &shown, &n_shown);
	return at;
}

uint8_t *packet_text(uint8_t *at, uint32_t number, const char *text, size_t n)
{
	uint8_t *begin;

	if (!is_ascii(text, n)) {
		begin = packet_open(at, number);
		return packet_close(begin, put_characters(begin, text, n));
	}
	at = pb_put_varint(at, PB_TAG(number, PB_LEN));
	return mempcpy(pb_put_varint(at, n), text, n);
}

uint8_t *packet_base64(uint8_t *at, uint32_t number, const void *data, size_t n)
{
	at = pb_put_varint(at, PB_TAG(number, PB_LEN));
	at = pb_put_varint(at, BASE64_BYTES(n));
	return (uint8_t *)base64_encode((char *)at, data, n);
}

uint8_t *packet_interned(uint8_t *at, uint32_t number, uint64_t iid, const char *text)
{
	uint8_t *entry = packet_open(at, number);

	at = pb_put_uint(entry, INTERNED_IID, iid);
	return packet_close(entry, packet_text(at, INTERNED_TEXT, text, strlen(text)));
}
