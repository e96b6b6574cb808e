/* SPDX-License-Identifier: Apache-2.0 */
/* Packs a message of protobuf-c into one block. */
#ifndef PROTO_PACK_H
#define PROTO_PACK_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <protobuf-c/protobuf-c.h>

/* *out belongs to the caller (free), even if the message is empty. 0 or -ENOMEM. */
static inline int proto_pack(const ProtobufCMessage *message, uint8_t **out, size_t *n_out)
{
	/* One byte more, so that an empty message does not yield NULL. */
	*out = malloc(protobuf_c_message_get_packed_size(message) + 1);
	if (!*out)
		return -ENOMEM;
	*n_out = protobuf_c_message_pack(message, *out);
	return 0;
}

#endif
