/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments; see perfetto_args.h. */
#include "trace/codec/perfetto_args.h"

#include <string.h>

#include "trace/codec/perfetto_fields.h"
#include "trace/codec/perfetto_interned.h"
#include "trace/codec/perfetto_packet.h"
#include "trace/read/cursor.h"

#define ARG_BYTES 128 /* of one, without its texts */

size_t perfetto_args_measure(const struct item_arg *args, size_t n)
{
	size_t n_bytes = n * ARG_BYTES;

	for (size_t i = 0; i < n; i++) {
		n_bytes += PACKET_TEXT_BYTES(strlen(args[i].key));
		if (args[i].type == STAT_STRING || args[i].type == STAT_BYTES)
			n_bytes += PACKET_TEXT_BYTES(args[i].n_bytes);
	}
	return n_bytes;
}

uint8_t *perfetto_args_intern(
	uint8_t *at, const struct item_arg *args, size_t n, struct perfetto_interned *keys)
{
	for (size_t i = 0; i < n; i++)
		if (!perfetto_interned_find(keys, args[i].key_index)) {
			perfetto_interned_set(keys, args[i].key_index, ++keys->n);
			at = packet_interned(at, INTERNED_ANNOTATION_NAMES, keys->n, args[i].key);
		}
	return at;
}

static uint8_t *put_value(uint8_t *at, const struct item_arg *arg)
{
	switch (arg->type) {
	case STAT_INT64:
		return pb_put_uint(at, ANNOTATION_INT, arg->value.u64);
	case STAT_UINT64:
		return pb_put_uint(at, ANNOTATION_UINT, arg->value.u64);
	case STAT_DOUBLE:
		return packet_double(at, ANNOTATION_DOUBLE, arg->value.f64);
	case STAT_STRING:
		return packet_text(at, ANNOTATION_STRING, arg->text, arg->n_bytes);
	case STAT_BYTES:
		return packet_base64(at, ANNOTATION_STRING, arg->text, arg->n_bytes);
	}
	return at;
}

uint8_t *perfetto_args_put(
	uint8_t *at, const struct item_arg *args, size_t n, const struct perfetto_interned *keys)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t *annotation = packet_open(at, EVENT_ANNOTATIONS);

		at = pb_put_uint(annotation, ANNOTATION_NAME_IID,
			perfetto_interned_find(keys, args[i].key_index));
		at = packet_close(annotation, put_value(at, &args[i]));
	}
	return at;
}
