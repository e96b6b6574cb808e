/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unary gRPC calls on a connected socket. A call is one batch with one event, which is plucked from
 * the channel's queue, so that calls on one channel do not meet each other's events.
 */
#include "rpc/client.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <grpc/grpc_posix.h>
#include <grpc/grpc_security.h>
#include <grpc/slice.h>
#include <grpc/support/time.h>

#include "base/diag.h"
#include "rpc/engine.h"
#include "rpc/message.h"
#include "rpc/socket.h"

struct rpc_channel {
	grpc_channel *grpc;
	grpc_completion_queue *queue;
};

struct rpc_pending {
	struct rpc_channel *channel;
	grpc_call *grpc;
	grpc_byte_buffer *request;
	grpc_byte_buffer *reply; /* NULL: none came */
	grpc_metadata_array initial;
	grpc_metadata_array trailing;
	grpc_status_code status;
	grpc_slice details;
	char *text; /* |details| as a string, after the end */
	bool is_done;
};

/* The channel. */

static grpc_arg int_arg(const char *key, int value)
{
	grpc_arg arg = {.type = GRPC_ARG_INTEGER, .key = (char *)key};

	arg.value.integer = value;
	return arg;
}

static grpc_arg string_arg(const char *key, const char *value)
{
	grpc_arg arg = {.type = GRPC_ARG_STRING, .key = (char *)key};

	arg.value.string = (char *)value;
	return arg;
}

static grpc_channel *create_channel(int fd, const char *authority)
{
	grpc_arg list[] = {
		int_arg(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, -1),
		int_arg(GRPC_ARG_ENABLE_HTTP_PROXY, 0),
		int_arg(GRPC_ARG_ENABLE_RETRIES, 0),
		string_arg(GRPC_ARG_DEFAULT_AUTHORITY, authority),
	};
	grpc_channel_args args = {sizeof list / sizeof list[0], list};
	grpc_channel_credentials *credentials = grpc_insecure_credentials_create();
	grpc_channel *channel = grpc_channel_create_from_fd(authority, fd, credentials, &args);

	grpc_channel_credentials_release(credentials);
	return channel;
}

int rpc_channel_new(int fd, const char *authority, struct rpc_channel **out, struct diag *d)
{
	struct rpc_channel *channel = calloc(1, sizeof *channel);
	_signals_blocked_ sigset_t old = signals_block();
	int r = channel ? socket_prepare(fd) : -ENOMEM;

	if (r < 0) {
		close(fd);
		free(channel);
		return diag_set(d, r, "%s: connection not usable: %s", authority, errno_words(r));
	}
	engine_start();
	channel->queue = grpc_completion_queue_create_for_pluck(NULL);
	channel->grpc = create_channel(fd, authority);
	*out = channel;
	return 0;
}

struct rpc_channel *rpc_channel_free(struct rpc_channel *channel)
{
	_signals_blocked_ sigset_t old = signals_block();

	if (!channel)
		return NULL;
	grpc_channel_destroy(channel->grpc);
	grpc_completion_queue_shutdown(channel->queue);
	grpc_completion_queue_destroy(channel->queue);
	engine_stop();
	free(channel);
	return NULL;
}

/* The call. */

static gpr_timespec after_ms(int64_t ms)
{
	if (ms < 0)
		return gpr_inf_future(GPR_CLOCK_MONOTONIC);
	return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(ms, GPR_TIMESPAN));
}

static grpc_call_error start_batch(struct rpc_pending *pending)
{
	grpc_op ops[6];

	memset(ops, 0, sizeof ops);
	ops[0].op = GRPC_OP_SEND_INITIAL_METADATA;
	ops[1].op = GRPC_OP_SEND_MESSAGE;
	ops[1].data.send_message.send_message = pending->request;
	ops[2].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
	ops[3].op = GRPC_OP_RECV_INITIAL_METADATA;
	ops[3].data.recv_initial_metadata.recv_initial_metadata = &pending->initial;
	ops[4].op = GRPC_OP_RECV_MESSAGE;
	ops[4].data.recv_message.recv_message = &pending->reply;
	ops[5].op = GRPC_OP_RECV_STATUS_ON_CLIENT;
	ops[5].data.recv_status_on_client.trailing_metadata = &pending->trailing;
	ops[5].data.recv_status_on_client.status = &pending->status;
	ops[5].data.recv_status_on_client.status_details = &pending->details;
	return grpc_call_start_batch(pending->grpc, ops, 6, pending, NULL);
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
	error = start_batch(pending);
	if (error != GRPC_CALL_OK) {
		pending->is_done = true;
		rpc_pending_free(pending);
		return diag_set(d, -EINVAL, "%s: call not made: %s", request->path,
			grpc_call_error_to_string(error));
	}
	*out = pending;
	return 0;
}

static char *copy_text(grpc_slice slice)
{
	return strndup((const char *)GRPC_SLICE_START_PTR(slice), GRPC_SLICE_LENGTH(slice));
}

int rpc_pending_wait(struct rpc_pending *pending, int64_t wait_ms)
{
	grpc_event event;

	if (pending->is_done)
		return 1;
	event = grpc_completion_queue_pluck(
		pending->channel->queue, pending, after_ms(wait_ms), NULL);
	if (event.type != GRPC_OP_COMPLETE)
		return 0;
	pending->text = copy_text(pending->details);
	pending->is_done = true;
	return 1;
}

void rpc_pending_cancel(struct rpc_pending *pending)
{
	grpc_call_cancel(pending->grpc, NULL);
}

struct rpc_pending *rpc_pending_free(struct rpc_pending *pending)
{
	if (!pending)
		return NULL;
	if (!pending->is_done)
		rpc_pending_cancel(pending);
	/* The batch writes into |pending| until its event; after a cancel that comes at once. */
	rpc_pending_wait(pending, -1);
	grpc_call_unref(pending->grpc);
	grpc_byte_buffer_destroy(pending->request);
	if (pending->reply)
		grpc_byte_buffer_destroy(pending->reply);
	grpc_metadata_array_destroy(&pending->initial);
	grpc_metadata_array_destroy(&pending->trailing);
	grpc_slice_unref(pending->details);
	free(pending->text);
	free(pending);
	return NULL;
}

/* The result. */

int rpc_pending_get_status(const struct rpc_pending *pending)
{
	return (int)pending->status;
}

const char *rpc_pending_get_text(const struct rpc_pending *pending)
{
	return pending->text ? pending->text : "";
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
