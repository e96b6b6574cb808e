/* SPDX-License-Identifier: Apache-2.0 */
/* Passing messages on; see relay.h. */
#include "rpc/relay.h"

#include <errno.h>

#include <grpc/byte_buffer.h>

#include "rpc/call.h"
#include "rpc/client.h"
#include "rpc/client_parts.h"

static grpc_byte_buffer *take_message(struct rpc_pending *pending)
{
	grpc_byte_buffer *message = pending->reply;

	pending->reply = NULL;
	return message;
}

int rpc_relay_message(struct rpc_call *to, struct rpc_pending *from, int64_t timeout_ms)
{
	int r = rpc_pending_has_message(from) ? rpc_call_flush(to, timeout_ms) : -ENODATA;

	if (!r)
		stream_send_message(to, take_message(from));
	return r;
}

/* A server must not send a status that gRPC does not define, so such a number becomes UNKNOWN. */
static enum rpc_status get_status(const struct rpc_pending *from)
{
	int status = rpc_pending_get_status(from);

	return status >= RPC_OK && status <= RPC_UNAUTHENTICATED ? (enum rpc_status)status
								 : RPC_UNKNOWN;
}

void rpc_relay_end(struct rpc_call *to, struct rpc_pending *from)
{
	rpc_call_finish(to, get_status(from), rpc_pending_get_text(from));
}

void rpc_relay_reply(struct rpc_call *to, struct rpc_pending *from)
{
	if (rpc_pending_get_status(from) != RPC_OK) {
		rpc_relay_end(to, from);
	} else if (!rpc_pending_has_message(from)) {
		rpc_call_fail(to, RPC_INTERNAL, "the other server sent no answer");
	} else {
		to->n_bytes += rpc_pending_get_bytes(from);
		call_note_answer(to, RPC_OK, "");
		call_send_answer(to, take_message(from), RPC_OK, "");
	}
}
