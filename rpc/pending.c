/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls in flight. The events of a call are plucked from the channel's queue, so that calls on one
 * channel do not meet each other's. Of a unary call a second message is asked for although there is none: gRPC would
 * keep it, and with it the end of the call, until the deadline. Of a stream no message is asked for before its reader
 * wants one: that is what holds the sender back.
 */
#include "rpc/pending.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grpc/byte_buffer.h>
#include <grpc/slice.h>
#include <grpc/support/alloc.h>

#include "rpc/channel.h"
#include "rpc/client.h"
#include "rpc/message.h"

/* gRPC's own words for a call that it gave up because the channel's quota was used up. */
#define QUOTA_WORDS "Buffers full"
/* The same for an encoding that is not enabled. */
#define ENCODING_WORDS "Compression algorithm"

static const char compressed[] = "it is compressed, which was not asked for";

gpr_timespec pending_after_ms(int64_t ms)
{
	if (ms < 0)
		return gpr_inf_future(GPR_CLOCK_MONOTONIC);
	return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(ms, GPR_TIMESPAN));
}

void pending_start_op(struct rpc_pending *pending, const grpc_op *op, void *tag)
{
	/* Fails on misuse only; then the empty batch makes the event come. */
	if (grpc_call_start_batch(pending->grpc, op, 1, tag, NULL) != GRPC_CALL_OK)
		grpc_call_start_batch(pending->grpc, NULL, 0, tag, NULL);
}

static void receive_message(struct rpc_pending *pending, grpc_byte_buffer **message)
{
	grpc_op op = {.op = GRPC_OP_RECV_MESSAGE};

	op.data.recv_message.recv_message = message;
	pending_start_op(pending, &op, message);
}

/* The first one counts. */
static void set_fault(struct rpc_pending *pending, const char *fault)
{
	if (!pending->fault[0])
		snprintf(pending->fault, sizeof pending->fault, "%s", fault);
}

static void set_large(struct rpc_pending *pending)
{
	char fault[sizeof pending->fault];

	snprintf(fault, sizeof fault, "it is larger than %" PRIu64 " bytes",
		pending->max_reply_bytes);
	set_fault(pending, fault);
}

/* The call ends at once. */
static void refuse(struct rpc_pending *pending, const char *fault)
{
	set_fault(pending, fault);
	grpc_call_cancel(pending->grpc, NULL);
}

static void refuse_large(struct rpc_pending *pending)
{
	set_large(pending);
	grpc_call_cancel(pending->grpc, NULL);
}

static void end_reply(struct rpc_pending *pending)
{
	if (pending->reply && message_is_compressed(pending->reply))
		refuse(pending, compressed);
	else if (rpc_pending_get_bytes(pending) > pending->max_reply_bytes)
		refuse_large(pending);
	if (pending->is_stream) {
		pending->stage = pending->reply ? STAGE_MESSAGE : STAGE_STATUS;
		return;
	}
	pending->stage = STAGE_EXTRA;
	receive_message(pending, &pending->extra);
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
		set_fault(pending, compressed);
	if (pending->status == GRPC_STATUS_RESOURCE_EXHAUSTED && pending->text &&
		strcmp(pending->text, QUOTA_WORDS) == 0)
		set_large(pending);
}

static bool pluck(struct rpc_pending *pending, void *tag, gpr_timespec until)
{
	return grpc_completion_queue_pluck(pending->channel->queue, tag, until, NULL).type ==
	       GRPC_OP_COMPLETE;
}

/*
 * gRPC's timers wait by CLOCK_REALTIME: when somebody sets that back by an hour, all that are due within it are an hour late. So
 * the deadline is looked at here, too.
 */
static bool await(struct rpc_pending *pending, void *tag, gpr_timespec until)
{
	bool is_last = gpr_time_cmp(pending->deadline, until) <= 0;

	if (pluck(pending, tag, is_last ? pending->deadline : until))
		return true;
	if (!is_last)
		return false;
	pending->deadline = gpr_inf_future(GPR_CLOCK_MONOTONIC);
	grpc_call_cancel_with_status(
		pending->grpc, GRPC_STATUS_DEADLINE_EXCEEDED, "Deadline Exceeded", NULL);
	return pluck(pending, tag, until);
}

/* The reader is done with the message, or does not want it. */
static void drop_message(struct rpc_pending *pending)
{
	if (pending->reply)
		grpc_byte_buffer_destroy(pending->reply);
	pending->reply = NULL;
	pending->stage = STAGE_REPLY;
	receive_message(pending, &pending->reply);
}

static void await_head(struct rpc_pending *pending, gpr_timespec until)
{
	if (pending->stage == STAGE_HEAD && await(pending, &pending->initial, until))
		pending->stage = STAGE_MESSAGE;
}

int rpc_pending_await_answer(struct rpc_pending *pending, int64_t wait_ms)
{
	await_head(pending, pending_after_ms(wait_ms));
	return pending->stage != STAGE_HEAD;
}

/* Until the end, or the next message of a stream. */
static void go_on(struct rpc_pending *pending, gpr_timespec until)
{
	if (pending->stage == STAGE_REPLY && await(pending, &pending->reply, until))
		end_reply(pending);
	if (pending->stage == STAGE_EXTRA && await(pending, &pending->extra, until))
		end_extra(pending);
	if (pending->stage == STAGE_STATUS && await(pending, &pending->status, until))
		end_call(pending);
}

int rpc_pending_wait(struct rpc_pending *pending, int64_t wait_ms)
{
	gpr_timespec until = pending_after_ms(wait_ms);

	await_head(pending, until);
	go_on(pending, until);
	while (pending->stage == STAGE_MESSAGE) {
		drop_message(pending);
		go_on(pending, until);
	}
	return pending->stage == STAGE_ENDED;
}

int rpc_pending_next(struct rpc_pending *pending, int64_t wait_ms)
{
	gpr_timespec until = pending_after_ms(wait_ms);

	await_head(pending, until);
	if (pending->stage == STAGE_MESSAGE)
		drop_message(pending);
	go_on(pending, until);
	/* A message that was refused is none; the call was cancelled, so its end comes at once. */
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
