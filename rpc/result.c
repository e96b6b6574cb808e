/* SPDX-License-Identifier: Apache-2.0 */
/* What came of a call; see client.h. */
#include "rpc/client.h"

#include <errno.h>

#include <grpc/byte_buffer.h>

#include "rpc/message.h"
#include "rpc/pending.h"

bool rpc_pending_has_ended(const struct rpc_pending *pending)
{
	return pending->stage == STAGE_ENDED;
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

uint64_t rpc_pending_get_bytes(const struct rpc_pending *pending)
{
	return pending->reply ? grpc_byte_buffer_length(pending->reply) : 0;
}
