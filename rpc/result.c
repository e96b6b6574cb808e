/* SPDX-License-Identifier: Apache-2.0 */
/* What came of a call; see client.h. */
#include "rpc/client.h"

#include <errno.h>
#include <string.h>

#include <grpc/byte_buffer.h>
#include <grpc/slice.h>

#include "rpc/keys.h"
#include "rpc/message.h"
#include "rpc/pending.h"

bool rpc_pending_has_ended(const struct rpc_pending *pending)
{
	return pending->stage == STAGE_ENDED;
}

/* gRPC writes it until the batch that it is of is over. */
static bool has_head(const struct rpc_pending *pending)
{
	return pending->is_stream ? pending->stage > STAGE_HEAD : pending->stage > STAGE_REPLY;
}

bool rpc_pending_is_from(const struct rpc_pending *pending, const char *role)
{
	const grpc_metadata *head = pending->initial.metadata;

	for (size_t i = 0; has_head(pending) && i < pending->initial.count; i++)
		if (!grpc_slice_str_cmp(head[i].key, ROLE_KEY))
			return !grpc_slice_str_cmp(head[i].value, role);
	return false;
}

int rpc_pending_get_status(const struct rpc_pending *pending)
{
	return pending->fault[0] ? RPC_INTERNAL : (int)pending->status;
}

const char *rpc_pending_get_text(const struct rpc_pending *pending)
{
	if (pending->fault[0])
		return pending->fault;
	return pending->text ? pending->text : "";
}

const char *rpc_pending_get_fault(const struct rpc_pending *pending)
{
	return pending->fault[0] ? pending->fault : NULL;
}

bool rpc_pending_has_message(const struct rpc_pending *pending)
{
	return pending->reply;
}

int rpc_pending_read(struct rpc_pending *pending,
	int (*piece)(const uint8_t *data, size_t n, void *context), void *context)
{
	if (!pending->reply)
		return -ENODATA;
	return message_read(pending->reply, piece, context);
}

struct room {
	uint8_t *to;
	size_t size;
	size_t n;
};

static int copy_piece(const uint8_t *data, size_t n, void *context)
{
	struct room *room = context;

	if (n > room->size - room->n)
		return -EMSGSIZE;
	memcpy(room->to + room->n, data, n);
	room->n += n;
	return 0;
}

int rpc_pending_copy(struct rpc_pending *pending, uint8_t *to, size_t size, size_t *n_out)
{
	struct room room = {to, size, 0};
	int r = rpc_pending_read(pending, copy_piece, &room);

	*n_out = r ? 0 : room.n;
	return r;
}

uint64_t rpc_pending_get_bytes(const struct rpc_pending *pending)
{
	return pending->reply ? grpc_byte_buffer_length(pending->reply) : 0;
}
