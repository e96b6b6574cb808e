/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answers of calls: unary replies, refusals, and streams; and the names of the status codes.
 *
 * At most one message of a stream is with gRPC; a writer with the next one waits. Only one writer
 * at a time uses a call, so the writer and the server's thread share a single word,
 * rpc_call.stream: the writer sets STREAM_WRITING, the event of the message clears it, and the
 * later of "message sent" and "finished" sends the status.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <grpc/byte_buffer.h>

#include "base/chunks.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/printable.h"
#include "rpc/call.h"
#include "rpc/message.h"
#include "rpc/server.h"

#define MAX_REPLY_BYTES INT32_MAX /* stock clients can receive no more */

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

static void answer_refuse_large(struct rpc_call *call, uint64_t bytes)
{
	rpc_call_fail_with(call, RPC_RESOURCE_EXHAUSTED,
		"the reply is %" PRIu64 " bytes, and a client can receive %d at most; "
		"record for a shorter time or at a lower level",
		bytes, MAX_REPLY_BYTES);
}

void rpc_call_reply(struct rpc_call *call, struct chunks *message)
{
	uint64_t bytes = message->total_bytes;
	int r = message->error;
	grpc_byte_buffer *buffer = NULL;

	if (r || bytes > MAX_REPLY_BYTES)
		chunks_deinit(message);
	else
		buffer = message_take_chunks(message);
	if (buffer) {
		call->n_bytes += bytes;
		call_note_answer(call, RPC_OK, "");
		call_send_answer(call, buffer, RPC_OK, "");
	} else if (!r && bytes > MAX_REPLY_BYTES) {
		answer_refuse_large(call, bytes);
	} else {
		rpc_call_fail(call, RPC_RESOURCE_EXHAUSTED,
			"the reply could not be built: the server is out of memory");
	}
}

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

/* --- The end of a stream --------------------------------------------------------------------- */

static void stream_send_status(struct rpc_call *call)
{
	call_send_answer(call, NULL, call->status, call->text ? call->text : "");
}

void rpc_call_finish(struct rpc_call *call, enum rpc_status status, const char *text)
{
	call->status = status;
	call->text = strdup(text);
	call_note_answer(call, status, text);
	/* Send an error now: the client may never take the message that is ahead of it. */
	if (status != RPC_OK && atomic_load(&call->stream) & STREAM_WRITING)
		grpc_call_cancel_with_status(call->grpc, (grpc_status_code)status, text, NULL);
	if (!(atomic_fetch_or(&call->stream, STREAM_FINISHING) & STREAM_WRITING))
		stream_send_status(call);
}

void stream_note_gone(struct rpc_call *call)
{
	atomic_fetch_or(&call->stream, STREAM_GONE);
	futex_wake(&call->stream, 1);
}

/* --- Messages of a stream -------------------------------------------------------------------- */

void stream_on_wrote(struct tag *tag, bool ok)
{
	struct rpc_call *call = call_of(tag, wrote);
	uint32_t was;

	if (!ok)
		atomic_fetch_or(&call->stream, STREAM_GONE);
	was = atomic_fetch_and(&call->stream, ~(uint32_t)STREAM_WRITING);
	futex_wake(&call->stream, 1);
	if (was & STREAM_FINISHING)
		stream_send_status(call);
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

	if (!r && message->total_bytes > MAX_REPLY_BYTES)
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

static const char *const status_names[] = {
	[RPC_OK] = "OK",
	[RPC_CANCELLED] = "CANCELLED",
	[RPC_UNKNOWN] = "UNKNOWN",
	[RPC_INVALID_ARGUMENT] = "INVALID_ARGUMENT",
	[RPC_DEADLINE_EXCEEDED] = "DEADLINE_EXCEEDED",
	[RPC_NOT_FOUND] = "NOT_FOUND",
	[RPC_ALREADY_EXISTS] = "ALREADY_EXISTS",
	[RPC_PERMISSION_DENIED] = "PERMISSION_DENIED",
	[RPC_RESOURCE_EXHAUSTED] = "RESOURCE_EXHAUSTED",
	[RPC_FAILED_PRECONDITION] = "FAILED_PRECONDITION",
	[RPC_ABORTED] = "ABORTED",
	[RPC_OUT_OF_RANGE] = "OUT_OF_RANGE",
	[RPC_UNIMPLEMENTED] = "UNIMPLEMENTED",
	[RPC_INTERNAL] = "INTERNAL",
	[RPC_UNAVAILABLE] = "UNAVAILABLE",
	[RPC_DATA_LOSS] = "DATA_LOSS",
	[RPC_UNAUTHENTICATED] = "UNAUTHENTICATED",
};

const char *rpc_status_name(int status)
{
	if (status < 0 || (size_t)status >= sizeof status_names / sizeof status_names[0])
		return status_names[RPC_UNKNOWN];
	return status_names[status];
}
