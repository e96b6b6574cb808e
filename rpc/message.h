/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion between gRPC messages and our bytes. */
#ifndef RPC_MESSAGE_H
#define RPC_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chunks;
struct grpc_byte_buffer;

/*
 * Makes a message of the bytes in |c|, without a copy: each chunk is freed when gRPC has sent it.
 * |c| is empty afterwards, also on failure. NULL when memory ran out.
 */
struct grpc_byte_buffer *message_take_chunks(struct chunks *c);

/* Makes a message with a copy of |n| bytes. */
struct grpc_byte_buffer *message_copy(const void *data, size_t n);

/* Returns true if the message arrived compressed and nobody has decompressed it. */
bool message_is_compressed(const struct grpc_byte_buffer *message);

/*
 * Calls |piece| for each stretch of bytes until it returns nonzero, and returns that; 0 at the end.
 * The message can be read again.
 */
int message_read(struct grpc_byte_buffer *message,
	int (*piece)(const uint8_t *data, size_t n, void *context), void *context);

/*
 * Returns all bytes in one piece, malloc'ed, never NULL for an empty message; NULL when memory ran
 * out.
 */
uint8_t *message_flatten(struct grpc_byte_buffer *message);

#endif
