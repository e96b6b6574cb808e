/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unary gRPC calls on a connected socket. The events of a call are plucked from the channel's queue, so that calls on one
 * channel do not meet each other's. A second message is asked for although there is none: gRPC would keep it, and with
 * it the end of the call, until the deadline.
 */
#include "rpc/client.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <grpc/slice.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>

#include "base/diag.h"
#include "rpc/channel.h"
#include "rpc/engine.h"
#include "rpc/message.h"

/* As much as stock clients take. */
#define MAX_REPLY_BYTES INT32_MAX
/* gRPC's own words for an encoding that is not enabled. */
#define ENCODING_WORDS "Compression algorithm"

static const char compressed[] = "it is compressed, which was not asked for";

/* What is waited for, in this order; each comes at the latest when the call ends. */
enum stage {
	STAGE_REPLY,
	STAGE_EXTRA,
	STAGE_STATUS,
	STAGE_ENDED,
};

/* The address of a result is its event's tag. */
struct rpc_pending {
	struct rpc_channel *channel;
	grpc_call *grpc;
	enum stage stage;
	uint64_t max_reply_bytes;
	char fault[80]; /* why the reply was refused, or "" */
	grpc_byte_buffer *request;
	grpc_byte_buffer *reply; /* NULL: none came */
	grpc_byte_buffer *extra; /* a second message: NULL, or it is refused */
	grpc_metadata_array initial;
	grpc_metadata_array trailing;
	grpc_status_code status;
	grpc_slice details;
	char *text; /* |details| as a string, after the end; gRPC's to free */
};

/* The call. */

static gpr_timespec after_ms(int64_t ms)
{
	if (ms < 0)
		return gpr_inf_future(GPR_CLOCK_MONOTONIC);
	return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(ms, GPR_TIMESPAN));
}

static grpc_call_error start_call(struct rpc_pending *pending)
{
	grpc_op ops[5];

	memset(ops, 0, sizeof ops);
	ops[0].op = GRPC_OP_SEND_INITIAL_METADATA;
	ops[1].op = GRPC_OP_SEND_MESSAGE;
	ops[1].data.send_message.send_message = pending->request;
	ops[2].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
	ops[3].op = GRPC_OP_RECV_INITIAL_METADATA;
	ops[3].data.recv_initial_metadata.recv_initial_metadata = &pending->initial;
	ops[4].op = GRPC_OP_RECV_MESSAGE;
	ops[4].data.recv_message.recv_message = &pending->reply;
	return grpc_call_start_batch(pending->grpc, ops, 5, &pending->reply, NULL);
}

static void start_op(struct rpc_pending *pending, const grpc_op *op, void *tag)
{
	/* Fails on misuse only; then the empty batch makes the event come. */
	if (grpc_call_start_batch(pending->grpc, op, 1, tag, NULL) != GRPC_CALL_OK)
		grpc_call_start_batch(pending->grpc, NULL, 0, tag, NULL);
}

static void receive_extra(struct rpc_pending *pending)
{
	grpc_op op = {.op = GRPC_OP_RECV_MESSAGE};

	op.data.recv_message.recv_message = &pending->extra;
	start_op(pending, &op, &pending->extra);
}

static void receive_status(struct rpc_pending *pending)
{
	grpc_op op = {.op = GRPC_OP_RECV_STATUS_ON_CLIENT};

	op.data.recv_status_on_client.trailing_metadata = &pending->trailing;
	op.data.recv_status_on_client.status = &pending->status;
	op.data.recv_status_on_client.status_details = &pending->details;
	start_op(pending, &op, &pending->status);
}

static struct rpc_pending *pending_new(
	struct rpc_channel *channel, const struct rpc_request *request)
{
	struct rpc_pending *pending = calloc(1, sizeof *pending);
	grpc_slice path;

	if (!pending)
		return NULL;
	path = grpc_slice_from_copied_string(request->path);
	pending->channel = channel;
	pending->max_reply_bytes =
		request->max_reply_bytes ? request->max_reply_bytes : MAX_REPLY_BYTES;
	pending->grpc = grpc_channel_create_call(channel->grpc, NULL, GRPC_PROPAGATE_DEFAULTS,
		channel->queue, path, NULL, after_ms(request->timeout_ms), NULL);
	grpc_slice_unref(path); /* the call has its own reference */
	pending->request = message_copy(request->message, request->message_bytes);
	pending->details = grpc_empty_slice();
	grpc_metadata_array_init(&pending->initial);
	grpc_metadata_array_init(&pending->trailing);
	return pending;
}

int rpc_call_start(struct rpc_channel *channel, const struct rpc_request *request,
	struct rpc_pending **out, struct diag *d)
{
	_signals_blocked_ sigset_t old = signals_block();
	struct rpc_pending *pending = pending_new(channel, request);
	grpc_call_error error;

	if (!pending)
		return diag_set(d, -ENOMEM, "%s: call not made: out of memory", request->path);
	error = start_call(pending);
	if (error != GRPC_CALL_OK) {
		pending->stage = STAGE_ENDED;
		rpc_pending_free(pending);
		return diag_set(d, -EINVAL, "%s: call not made: %s", request->path,
			grpc_call_error_to_string(error));
	}
	receive_status(pending);
	*out = pending;
	return 0;
}

/* The call ends at once. */
static void refuse(struct rpc_pending *pending, const char *fault)
{
	if (!pending->fault[0])
		snprintf(pending->fault, sizeof pending->fault, "%s", fault);
	grpc_call_cancel(pending->grpc, NULL);
}

void rpc_pending_refuse_large(struct rpc_pending *pending)
{
	char fault[sizeof pending->fault];

	snprintf(fault, sizeof fault, "it is larger than %" PRIu64 " bytes",
		pending->max_reply_bytes);
	refuse(pending, fault);
}

static void end_reply(struct rpc_pending *pending)
{
	pending->stage = STAGE_EXTRA;
	if (pending->reply && message_is_compressed(pending->reply))
		refuse(pending, compressed);
	else if (rpc_pending_get_bytes(pending) > pending->max_reply_bytes)
		rpc_pending_refuse_large(pending);
	receive_extra(pending);
}

static void end_extra(struct rpc_pending *pending)
{
	pending->stage = STAGE_STATUS;
	if (pending->extra)
		refuse(pending, "it has more than one message");
}

static void end_call(struct rpc_pending *pending)
{
	pending->stage = STAGE_ENDED;
	pending->text = grpc_slice_to_c_string(pending->details);
	if (pending->status == GRPC_STATUS_UNIMPLEMENTED && pending->text &&
		strncmp(pending->text, ENCODING_WORDS, sizeof ENCODING_WORDS - 1) == 0)
		snprintf(pending->fault, sizeof pending->fault, "%s", compressed);
}

static bool await(struct rpc_pending *pending, void *tag, gpr_timespec until)
{
	return grpc_completion_queue_pluck(pending->channel->queue, tag, until, NULL).type ==
	       GRPC_OP_COMPLETE;
}

int rpc_pending_wait(struct rpc_pending *pending, int64_t wait_ms)
{
	gpr_timespec until = after_ms(wait_ms);

	if (pending->stage == STAGE_REPLY && await(pending, &pending->reply, until))
		end_reply(pending);
	if (pending->stage == STAGE_EXTRA && await(pending, &pending->extra, until))
		end_extra(pending);
	if (pending->stage == STAGE_STATUS && await(pending, &pending->status, until))
		end_call(pending);
	return pending->stage == STAGE_ENDED;
}

void rpc_pending_cancel(struct rpc_pending *pending)
{
	grpc_call_cancel(pending->grpc, NULL);
}

struct rpc_pending *rpc_pending_free(struct rpc_pending *pending)
{
	if (!pending)
		return NULL;
	if (pending->stage != STAGE_ENDED)
		rpc_pending_cancel(pending);
	/* gRPC writes into |pending| until the last event; after a cancel that comes at once. */
	rpc_pending_wait(pending, -1);
	grpc_call_unref(pending->grpc);
	grpc_byte_buffer_destroy(pending->request);
	if (pending->reply)
		grpc_byte_buffer_destroy(pending->reply);
	if (pending->extra)
		grpc_byte_buffer_destroy(pending->extra);
	grpc_metadata_array_destroy(&pending->initial);
	grpc_metadata_array_destroy(&pending->trailing);
	grpc_slice_unref(pending->details);
	gpr_free(pending->text);
	free(pending);
	return NULL;
}

/* The result. */

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
