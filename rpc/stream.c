/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers of many messages. At most one of them is with gRPC; whoever has the next one waits. Only one writer at a time
 * uses a call, so what the writer and the server's thread share is one word, |stream|: the writer sets STREAM_WRITING,
 * the event of the message clears it, and the last of "message sent" and "finished" sends the status.
 */
#include "rpc/server.h"

#include <errno.h>
#include <string.h>

#include <grpc/byte_buffer.h>

#include "base/chunks.h"
#include "base/clock.h"
#include "base/futex.h"
#include "rpc/call.h"
#include "rpc/message.h"

#define MAX_MESSAGE_BYTES INT32_MAX /* clients take no more */

void stream_on_begun(struct tag *tag, bool ok)
{
	(void)ok;
	call_event_done(call_of(tag, begun));
}

void rpc_call_begin(struct rpc_call *call)
{
	grpc_op op;

	if (call->is_begun)
		return;
	op = call_make_head(call->host);
	call->is_begun = true;
	call->n_events_due++;
	call_start_batch(call, &op, 1, &call->begun);
}

/* The end. */

static void send_status(struct rpc_call *call)
{
	call_send_answer(call, NULL, call->status, call->text ? call->text : "");
}

void rpc_call_finish(struct rpc_call *call, enum rpc_status status, const char *text)
{
	call->status = status;
	call->text = strdup(text);
	call_note_answer(call, status, text);
	/* An error does not wait behind a message that the client may never take. */
	if (status != RPC_OK && atomic_load(&call->stream) & STREAM_WRITING)
		grpc_call_cancel_with_status(call->grpc, (grpc_status_code)status, text, NULL);
	if (!(atomic_fetch_or(&call->stream, STREAM_FINISHING) & STREAM_WRITING))
		send_status(call);
}

void stream_note_gone(struct rpc_call *call)
{
	atomic_fetch_or(&call->stream, STREAM_GONE);
	futex_wake(&call->stream, 1);
}

/* Messages. */

void stream_on_wrote(struct tag *tag, bool ok)
{
	struct rpc_call *call = call_of(tag, wrote);
	uint32_t was;

	if (!ok)
		atomic_fetch_or(&call->stream, STREAM_GONE);
	was = atomic_fetch_and(&call->stream, ~(uint32_t)STREAM_WRITING);
	futex_wake(&call->stream, 1);
	if (was & STREAM_FINISHING)
		send_status(call);
	else if (call->method->kind == RPC_BIDI)
		call_receive(call);
	call_event_done(call);
}

void stream_send_message(struct rpc_call *call, grpc_byte_buffer *message)
{
	grpc_op ops[2];
	size_t n = 0;

	memset(ops, 0, sizeof ops);
	if (!call->is_begun)
		ops[n++] = call_make_head(call->host);
	ops[n].op = GRPC_OP_SEND_MESSAGE;
	ops[n++].data.send_message.send_message = message;
	call->is_begun = true;
	call->n_bytes += grpc_byte_buffer_length(message);
	call->n_events_due++;
	atomic_fetch_or(&call->stream, STREAM_WRITING);
	call_start_batch(call, ops, n, &call->wrote);
	grpc_byte_buffer_destroy(message);
}

int rpc_call_flush(struct rpc_call *call, int64_t timeout_ms)
{
	int64_t end_ns = timeout_ms < 0 ? INT64_MAX : monotonic_ns() + timeout_ms * NS_PER_MS;
	uint32_t now = atomic_load(&call->stream);

	while (!(now & STREAM_GONE) && now & STREAM_WRITING) {
		if (futex_wait_until(&call->stream, now, end_ns) == -ETIMEDOUT)
			return -ETIMEDOUT;
		now = atomic_load(&call->stream);
	}
	return now & STREAM_GONE ? -ECANCELED : 0;
}

int rpc_call_write(struct rpc_call *call, struct chunks *message, int64_t timeout_ms)
{
	grpc_byte_buffer *buffer;
	int r = message->error;

	if (!r && message->total_bytes > MAX_MESSAGE_BYTES)
		r = -EMSGSIZE;
	if (!r)
		r = rpc_call_flush(call, timeout_ms);
	if (r) {
		chunks_deinit(message);
		return r;
	}
	buffer = message_take_chunks(message);
	if (!buffer)
		return -ENOMEM;
	stream_send_message(call, buffer);
	return 0;
}
