/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of one message, and those without. */
#include "rpc/server.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/chunks.h"
#include "base/printable.h"
#include "rpc/call.h"
#include "rpc/message.h"

#define MAX_REPLY_BYTES INT32_MAX /* stock clients take no more */

void rpc_call_fail(struct rpc_call *call, enum rpc_status status, const char *text)
{
	rpc_call_finish(call, status, text);
}

void rpc_call_fail_with(struct rpc_call *call, enum rpc_status status, const char *format, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	printable_clean(text);
	rpc_call_fail(call, status, text);
}

static void refuse_large_reply(struct rpc_call *call, uint64_t bytes)
{
	rpc_call_fail_with(call, RPC_RESOURCE_EXHAUSTED,
		"the reply is %" PRIu64 " bytes, and a client can receive %d at most; "
		"record for a shorter time or at a lower level",
		bytes, MAX_REPLY_BYTES);
}

void rpc_call_reply(struct rpc_call *call, struct chunks *message)
{
	uint64_t bytes = message->total_bytes;
	int error = message->error;
	grpc_byte_buffer *buffer = NULL;

	if (error || bytes > MAX_REPLY_BYTES)
		chunks_deinit(message);
	else
		buffer = message_take_chunks(message);
	if (buffer) {
		call->n_bytes += bytes;
		call_note_answer(call, RPC_OK, "");
		call_send_answer(call, buffer, RPC_OK, "");
	} else if (!error && bytes > MAX_REPLY_BYTES) {
		refuse_large_reply(call, bytes);
	} else {
		rpc_call_fail(call, RPC_RESOURCE_EXHAUSTED,
			"the reply could not be built: the server is out of memory");
	}
}
