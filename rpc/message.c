/* SPDX-License-Identifier: Apache-2.0 */
/* A gRPC message as our bytes, and our bytes as a gRPC message; see message.h. */
#include "rpc/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/slice.h>

#include "base/chunks.h"

/* Moves the bytes of |c| into |slices|; returns how many slices there are. */
static size_t steal_slices(struct chunks *c, grpc_slice *slices)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_chunks; i++) {
		struct chunk *chunk = &c->chunks[i];

		if (!chunk->used_bytes)
			continue;
		slices[n++] = grpc_slice_new_with_user_data(chunk->data, chunk->used_bytes,
			chunk->give_back ? chunk->give_back : free,
			chunk->give_back ? chunk->lender : chunk->data);
		memset(chunk, 0, sizeof *chunk);
	}
	return n;
}

grpc_byte_buffer *message_take_chunks(struct chunks *c)
{
	grpc_slice *slices = calloc(c->n_chunks + 1, sizeof *slices);
	grpc_byte_buffer *message = NULL;
	size_t n;

	if (slices) {
		n = steal_slices(c, slices);
		message = grpc_raw_byte_buffer_create(slices, n);
		for (size_t i = 0; i < n; i++)
			grpc_slice_unref(slices[i]);
		free(slices);
	}
	chunks_deinit(c);
	return message;
}

grpc_byte_buffer *message_copy(const void *data, size_t n)
{
	grpc_slice slice = grpc_slice_from_copied_buffer(data, n);
	grpc_byte_buffer *message = grpc_raw_byte_buffer_create(&slice, 1);

	grpc_slice_unref(slice);
	return message;
}

bool message_is_compressed(const grpc_byte_buffer *message)
{
	return message->data.raw.compression != GRPC_COMPRESS_NONE;
}

int message_read(grpc_byte_buffer *message,
	int (*piece)(const uint8_t *data, size_t n, void *context), void *context)
{
	grpc_byte_buffer_reader reader;
	grpc_slice *slice;
	int r = 0;

	if (!grpc_byte_buffer_reader_init(&reader, message))
		return -EBADMSG;
	while (!r && grpc_byte_buffer_reader_peek(&reader, &slice)) {
		if (GRPC_SLICE_LENGTH(*slice))
			r = piece(GRPC_SLICE_START_PTR(*slice), GRPC_SLICE_LENGTH(*slice), context);
	}
	grpc_byte_buffer_reader_destroy(&reader);
	return r;
}

static int append_piece(const uint8_t *data, size_t n, void *context)
{
	uint8_t **end = context;

	memcpy(*end, data, n);
	*end += n;
	return 0;
}

uint8_t *message_flatten(grpc_byte_buffer *message)
{
	uint8_t *bytes = malloc(grpc_byte_buffer_length(message) + 1);
	uint8_t *end = bytes;

	if (bytes)
		message_read(message, append_piece, &end);
	return bytes;
}
