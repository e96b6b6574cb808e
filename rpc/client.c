/* SPDX-License-Identifier: Apache-2.0 */
/* How calls are made; see client.h. */
#include "rpc/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <grpc/grpc.h>
#include <grpc/slice.h>

#include "base/diag.h"
#include "rpc/channel.h"
#include "rpc/engine.h"
#include "rpc/keys.h"
#include "rpc/message.h"
#include "rpc/pending.h"

/* As much as stock clients take. */
#define MAX_REPLY_BYTES INT32_MAX

static grpc_call_error start_call(struct rpc_pending *pending)
{
	/* They stay until the channel goes. */
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

static void receive_status(struct rpc_pending *pending)
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

static int start(struct rpc_channel *channel, const struct rpc_request *request, bool is_stream,
	struct rpc_pending **out, struct diag *d)
{
	_signals_blocked_ sigset_t old = signals_block();
	struct rpc_pending *pending = pending_new(channel, request);
	grpc_call_error error;

	if (!pending)
		return diag_set(d, -ENOMEM, "%s: call not made: out of memory", request->path);
	pending->is_stream = is_stream;
	pending->stage = is_stream ? STAGE_HEAD : STAGE_REPLY;
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

int rpc_call_start(struct rpc_channel *channel, const struct rpc_request *request,
	struct rpc_pending **out, struct diag *d)
{
	return start(channel, request, false, out, d);
}

int rpc_stream_start(struct rpc_channel *channel, const struct rpc_request *request,
	struct rpc_pending **out, struct diag *d)
{
	return start(channel, request, true, out, d);
}
