/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that this process makes; see client.h.
 *
 * The events of a call are plucked from the channel's queue, so that calls on one channel do not
 * receive each other's. A unary call asks for a second message although a correct server sends
 * none: without that request, gRPC would keep a second message, and with it the end of the call,
 * until the deadline. A stream asks for a message only when its reader wants one, which holds the
 * sender back.
 */
#include "rpc/client.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <grpc/slice.h>
#include <grpc/support/alloc.h>

#include "base/diag.h"
#include "rpc/call.h"
#include "rpc/client_parts.h"
#include "rpc/engine.h"
#include "rpc/message.h"

/* gRPC's status text for a call that it gave up because the channel's quota was used up. */
#define QUOTA_WORDS "Buffers full"
/* gRPC's status text for an encoding that is not enabled. */
#define ENCODING_WORDS "Compression algorithm"

static const char compressed_text[] = "it is compressed, which was not asked for";

/* Returns gRPC's time in |ms| from now; < 0: never. */
static gpr_timespec pending_after_ms(int64_t ms)
{
	if (ms < 0)
		return gpr_inf_future(GPR_CLOCK_MONOTONIC);
	return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(ms, GPR_TIMESPAN));
}

/* Starts a batch of one operation. */
static void pending_start_op(struct rpc_pending *pending, const grpc_op *op, void *tag)
{
	/* It fails only on misuse; the empty batch then delivers the event. */
	if (grpc_call_start_batch(pending->grpc, op, 1, tag, NULL) != GRPC_CALL_OK)
		grpc_call_start_batch(pending->grpc, NULL, 0, tag, NULL);
}

static void pending_receive_message(struct rpc_pending *pending, grpc_byte_buffer **message)
{
	grpc_op op = {.op = GRPC_OP_RECV_MESSAGE};

	op.data.recv_message.recv_message = message;
	pending_start_op(pending, &op, message);
}

/* Only the first fault is kept. */
static void pending_set_fault(struct rpc_pending *pending, const char *fault)
{
	if (!pending->fault[0])
		snprintf(pending->fault, sizeof pending->fault, "%s", fault);
}

static void pending_set_large(struct rpc_pending *pending)
{
	char fault[sizeof pending->fault];

	snprintf(fault, sizeof fault, "it is larger than %" PRIu64 " bytes",
		pending->max_reply_bytes);
	pending_set_fault(pending, fault);
}

/* Cancels the call, which ends at once. */
static void pending_refuse(struct rpc_pending *pending, const char *fault)
{
	pending_set_fault(pending, fault);
	grpc_call_cancel(pending->grpc, NULL);
}

static void pending_refuse_large(struct rpc_pending *pending)
{
	pending_set_large(pending);
	grpc_call_cancel(pending->grpc, NULL);
}

/* --- Waiting ---------------------------------------------------------------------------------- */

static void pending_end_reply(struct rpc_pending *pending)
{
	if (pending->reply && message_is_compressed(pending->reply))
		pending_refuse(pending, compressed_text);
	else if (rpc_pending_get_bytes(pending) > pending->max_reply_bytes)
		pending_refuse_large(pending);
	if (pending->is_stream) {
		pending->stage = pending->reply ? STAGE_MESSAGE : STAGE_STATUS;
		return;
	}
	pending->stage = STAGE_EXTRA;
	pending_receive_message(pending, &pending->extra);
}

static void pending_end_extra(struct rpc_pending *pending)
{
	pending->stage = STAGE_STATUS;
	if (pending->extra)
		pending_refuse(pending, "it has more than one message");
}

static void pending_end_call(struct rpc_pending *pending)
{
	pending->stage = STAGE_ENDED;
	pending->text = grpc_slice_to_c_string(pending->details);
	if (pending->status == GRPC_STATUS_UNIMPLEMENTED && pending->text &&
		strncmp(pending->text, ENCODING_WORDS, sizeof ENCODING_WORDS - 1) == 0)
		pending_set_fault(pending, compressed_text);
	if (pending->status == GRPC_STATUS_RESOURCE_EXHAUSTED && pending->text &&
		strcmp(pending->text, QUOTA_WORDS) == 0)
		pending_set_large(pending);
}

static bool pending_pluck(struct rpc_pending *pending, void *tag, gpr_timespec until)
{
	return grpc_completion_queue_pluck(pending->channel->queue, tag, until, NULL).type ==
	       GRPC_OP_COMPLETE;
}

/*
 * Waits for the event |tag|. gRPC's timers use CLOCK_REALTIME: if the clock is set back by an hour,
 * they fire an hour late. So this function checks the deadline, too.
 */
static bool pending_await(struct rpc_pending *pending, void *tag, gpr_timespec until)
{
	bool is_last = gpr_time_cmp(pending->deadline, until) <= 0;

	if (pending_pluck(pending, tag, is_last ? pending->deadline : until))
		return true;
	if (!is_last)
		return false;
	pending->deadline = gpr_inf_future(GPR_CLOCK_MONOTONIC);
	grpc_call_cancel_with_status(
		pending->grpc, GRPC_STATUS_DEADLINE_EXCEEDED, "Deadline Exceeded", NULL);
	return pending_pluck(pending, tag, until);
}

/*
 * Frees the message, which the reader has finished with or does not want, and asks for the next
 * one.
 */
static void pending_drop_message(struct rpc_pending *pending)
{
	if (pending->reply)
		grpc_byte_buffer_destroy(pending->reply);
	pending->reply = NULL;
	pending->stage = STAGE_REPLY;
	pending_receive_message(pending, &pending->reply);
}

static void pending_await_head(struct rpc_pending *pending, gpr_timespec until)
{
	if (pending->stage == STAGE_HEAD && pending_await(pending, &pending->initial, until))
		pending->stage = STAGE_MESSAGE;
}

int rpc_pending_await_answer(struct rpc_pending *pending, int64_t wait_ms)
{
	pending_await_head(pending, pending_after_ms(wait_ms));
	return pending->stage != STAGE_HEAD;
}

/* Handles events until the end of the call, or the next message of a stream. */
static void pending_advance(struct rpc_pending *pending, gpr_timespec until)
{
	if (pending->stage == STAGE_REPLY && pending_await(pending, &pending->reply, until))
		pending_end_reply(pending);
	if (pending->stage == STAGE_EXTRA && pending_await(pending, &pending->extra, until))
		pending_end_extra(pending);
	if (pending->stage == STAGE_STATUS && pending_await(pending, &pending->status, until))
		pending_end_call(pending);
}

int rpc_pending_wait(struct rpc_pending *pending, int64_t wait_ms)
{
	gpr_timespec until = pending_after_ms(wait_ms);

	pending_await_head(pending, until);
	pending_advance(pending, until);
	while (pending->stage == STAGE_MESSAGE) {
		pending_drop_message(pending);
		pending_advance(pending, until);
	}
	return pending->stage == STAGE_ENDED;
}

int rpc_pending_next(struct rpc_pending *pending, int64_t wait_ms)
{
	gpr_timespec until = pending_after_ms(wait_ms);

	pending_await_head(pending, until);
	if (pending->stage == STAGE_MESSAGE)
		pending_drop_message(pending);
	pending_advance(pending, until);
	/*
	 * A refused message does not count as one. The call was cancelled, so its end comes at
	 * once.
	 */
	if (pending->stage == STAGE_MESSAGE && pending->fault[0])
		rpc_pending_wait(pending, -1);
	return pending->stage == STAGE_MESSAGE;
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
	/*
	 * gRPC writes into |pending| until the last event, which comes at once after a
	 * cancellation.
	 */
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

/* --- Making a call ---------------------------------------------------------------------------- */

/* the same limit as stock clients have */
#define MAX_REPLY_BYTES INT32_MAX

static grpc_call_error pending_start_call(struct rpc_pending *pending)
{
	/* Both strings are valid until the channel is freed. */
	grpc_metadata target = {
		.key = grpc_slice_from_static_string(TARGET_KEY),
		.value = grpc_slice_from_static_string(pending->channel->target),
	};
	grpc_op ops[5];

	memset(ops, 0, sizeof ops);
	ops[0].op = GRPC_OP_SEND_INITIAL_METADATA;
	ops[0].data.send_initial_metadata.count = pending->channel->target[0] != '\0';
	ops[0].data.send_initial_metadata.metadata = &target;
	ops[1].op = GRPC_OP_SEND_MESSAGE;
	ops[1].data.send_message.send_message = pending->request;
	ops[2].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
	ops[3].op = GRPC_OP_RECV_INITIAL_METADATA;
	ops[3].data.recv_initial_metadata.recv_initial_metadata = &pending->initial;
	if (pending->is_stream)
		return grpc_call_start_batch(pending->grpc, ops, 4, &pending->initial, NULL);
	ops[4].op = GRPC_OP_RECV_MESSAGE;
	ops[4].data.recv_message.recv_message = &pending->reply;
	return grpc_call_start_batch(pending->grpc, ops, 5, &pending->reply, NULL);
}

static void pending_receive_status(struct rpc_pending *pending)
{
	grpc_op op = {.op = GRPC_OP_RECV_STATUS_ON_CLIENT};

	op.data.recv_status_on_client.trailing_metadata = &pending->trailing;
	op.data.recv_status_on_client.status = &pending->status;
	op.data.recv_status_on_client.status_details = &pending->details;
	pending_start_op(pending, &op, &pending->status);
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
	channel_make_room(channel, pending->max_reply_bytes);
	pending->deadline = pending_after_ms(request->timeout_ms);
	pending->grpc = grpc_channel_create_call(channel->grpc, NULL, GRPC_PROPAGATE_DEFAULTS,
		channel->queue, path, NULL, pending->deadline, NULL);
	grpc_slice_unref(path); /* the call has its own reference */
	pending->request = message_copy(request->message, request->message_bytes);
	pending->details = grpc_empty_slice();
	grpc_metadata_array_init(&pending->initial);
	grpc_metadata_array_init(&pending->trailing);
	return pending;
}

static int pending_start(struct rpc_channel *channel, const struct rpc_request *request,
	bool is_stream, struct rpc_pending **out, struct diag *d)
{
	_signals_blocked_ sigset_t old = signals_block();
	struct rpc_pending *pending = pending_new(channel, request);
	grpc_call_error error;

	if (!pending)
		return diag_set(d, -ENOMEM, "%s: call not made: out of memory", request->path);
	pending->is_stream = is_stream;
	pending->stage = is_stream ? STAGE_HEAD : STAGE_REPLY;
	error = pending_start_call(pending);
	if (error != GRPC_CALL_OK) {
		pending->stage = STAGE_ENDED;
		rpc_pending_free(pending);
		return diag_set(d, -EINVAL, "%s: call not made: %s", request->path,
			grpc_call_error_to_string(error));
	}
	pending_receive_status(pending);
	*out = pending;
	return 0;
}

int rpc_call_start(struct rpc_channel *channel, const struct rpc_request *request,
	struct rpc_pending **out, struct diag *d)
{
	return pending_start(channel, request, false, out, d);
}

int rpc_stream_start(struct rpc_channel *channel, const struct rpc_request *request,
	struct rpc_pending **out, struct diag *d)
{
	return pending_start(channel, request, true, out, d);
}

bool rpc_pending_has_ended(const struct rpc_pending *pending)
{
	return pending->stage == STAGE_ENDED;
}

/* Returns true if pending->initial may be read: gRPC writes it until its batch has ended. */
static bool pending_has_head(const struct rpc_pending *pending)
{
	return pending->is_stream ? pending->stage > STAGE_HEAD : pending->stage > STAGE_REPLY;
}

bool rpc_pending_is_from(const struct rpc_pending *pending, const char *role)
{
	const grpc_metadata *head = pending->initial.metadata;

	for (size_t i = 0; pending_has_head(pending) && i < pending->initial.count; i++)
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
