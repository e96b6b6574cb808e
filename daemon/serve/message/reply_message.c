/* SPDX-License-Identifier: Apache-2.0 */
/* Messages as answers; see reply_message.h. */
#include "daemon/serve/message/reply_message.h"

#include <protobuf-c/protobuf-c.h>

#include "base/chunks.h"
#include "rpc/server.h"

void reply_message_append(struct chunks *to, const ProtobufCMessage *message)
{
	size_t n = protobuf_c_message_get_packed_size(message);
	uint8_t *p = chunks_reserve(to, n);

	if (p)
		chunks_commit(to, protobuf_c_message_pack(message, p));
}

void reply_message(struct rpc_call *call, const ProtobufCMessage *message)
{
	struct chunks bytes = CHUNKS_INIT;

	reply_message_append(&bytes, message);
	rpc_call_reply(call, &bytes);
}

void reply_empty(struct rpc_call *call)
{
	struct chunks none = CHUNKS_INIT;

	rpc_call_reply(call, &none);
}

void reply_no_memory(struct rpc_call *call)
{
	rpc_call_fail(call, RPC_RESOURCE_EXHAUSTED, "the profiler server is out of memory");
}
