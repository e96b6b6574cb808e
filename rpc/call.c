/* SPDX-License-Identifier: Apache-2.0 */
/* One call on the server; see call.h. */
#include "rpc/call.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grpc/byte_buffer.h>
#include <grpc/slice.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "rpc/handoff.h"
#include "rpc/message.h"
#include "rpc/server.h"

#define MAX_REPLY_BYTES INT32_MAX /* stock clients take no more */

struct rpc_call {
	struct call_host *host;
	grpc_call *grpc;
	int connection; /* as in conduct.h */
	grpc_call_details details;
	grpc_metadata_array metadata;
	const struct rpc_method *method; /* NULL: unknown */
	grpc_byte_buffer *request;
	int given_up; /* written by gRPC before |closed| comes */
	void (*on_cancel)(struct rpc_call *, void *);
	void *on_cancel_context;
	atomic_bool is_answered; /* set by whoever answers */
	bool is_closed; /* server's thread */
	unsigned int n_events_due; /* server's thread; freed at 0 */
	struct tag arrived;
	struct tag received;
	struct tag closed;
	struct tag sent;
};

#define call_of(tag, member) ((struct rpc_call *)((char *)(tag)-offsetof(struct rpc_call, member)))

static void call_free(struct rpc_call *call)
{
	if (call->grpc)
		grpc_call_unref(call->grpc);
	if (call->request)
		grpc_byte_buffer_destroy(call->request);
	grpc_call_details_destroy(&call->details);
	grpc_metadata_array_destroy(&call->metadata);
	free(call);
}

static void event_done(struct rpc_call *call)
{
	struct call_host *host = call->host;

	if (--call->n_events_due)
		return;
	host->n_live--;
	conduct_note_end(&host->conduct, call->connection);
	call_free(call);
	call_arm(host);
}

/* The answer. */

static void on_sent(struct tag *tag, bool ok)
{
	(void)ok; /* false: the client went away first */
	event_done(call_of(tag, sent));
}

/*
 * Starts the call's last batch; |message| may be NULL. After this the server's thread may free the
 * call at any moment.
 */
static void send_answer(
	struct rpc_call *call, grpc_byte_buffer *message, enum rpc_status status, const char *text)
{
	grpc_slice details = grpc_slice_from_copied_string(text);
	grpc_call *grpc = call->grpc;
	grpc_op ops[3];
	size_t n = 0;

	memset(ops, 0, sizeof ops);
	ops[n++].op = GRPC_OP_SEND_INITIAL_METADATA;
	if (message) {
		ops[n].op = GRPC_OP_SEND_MESSAGE;
		ops[n++].data.send_message.send_message = message;
	}
	ops[n].op = GRPC_OP_SEND_STATUS_FROM_SERVER;
	ops[n].data.send_status_from_server.status = (grpc_status_code)status;
	ops[n++].data.send_status_from_server.status_details = &details;
	handoff_give(&call->sent);
	if (grpc_call_start_batch(grpc, ops, n, &call->sent, NULL) != GRPC_CALL_OK) {
		grpc_call_cancel(grpc, NULL);
		/* An empty batch only makes the event come. */
		grpc_call_start_batch(grpc, NULL, 0, &call->sent, NULL);
	}
	grpc_slice_unref(details);
	if (message)
		grpc_byte_buffer_destroy(message);
}

void rpc_call_fail(struct rpc_call *call, enum rpc_status status, const char *text)
{
	atomic_store(&call->is_answered, true);
	send_answer(call, NULL, status, text);
}

static void refuse_large_reply(struct rpc_call *call, uint64_t bytes)
{
	char text[160];

	snprintf(text, sizeof text,
		"the reply is %" PRIu64 " bytes, and a client can receive %d at most; "
		"record for a shorter time or at a lower level",
		bytes, MAX_REPLY_BYTES);
	rpc_call_fail(call, RPC_RESOURCE_EXHAUSTED, text);
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
		atomic_store(&call->is_answered, true);
		send_answer(call, buffer, RPC_OK, "");
	} else if (!error && bytes > MAX_REPLY_BYTES) {
		refuse_large_reply(call, bytes);
	} else {
		rpc_call_fail(call, RPC_RESOURCE_EXHAUSTED,
			"the reply could not be built: the server is out of memory");
	}
}

/* Giving up. */

void rpc_call_set_on_cancel(
	struct rpc_call *call, void (*on_cancel)(struct rpc_call *, void *), void *context)
{
	call->on_cancel = on_cancel;
	call->on_cancel_context = context;
}

static void on_closed(struct tag *tag, bool ok)
{
	struct rpc_call *call = call_of(tag, closed);

	(void)ok;
	call->is_closed = true;
	if (call->given_up)
		conduct_note_given_up(&call->host->conduct, call->connection, monotonic_ns());
	if (call->given_up && call->on_cancel && !atomic_load(&call->is_answered))
		call->on_cancel(call, call->on_cancel_context);
	event_done(call);
}

/* The request. */

static void refuse_large_request(struct rpc_call *call, size_t bytes)
{
	char text[256];

	snprintf(text, sizeof text, "%s: the request is %zu bytes; it may have %zu at most",
		call->method->path, bytes, call->method->max_request_bytes);
	rpc_call_fail(call, RPC_RESOURCE_EXHAUSTED, text);
}

static void handle_request(struct rpc_call *call)
{
	size_t n = grpc_byte_buffer_length(call->request);
	_cleanup_free_ uint8_t *bytes = message_flatten(call->request);

	if (!bytes) {
		rpc_call_fail(call, RPC_RESOURCE_EXHAUSTED,
			"the request could not be read: the server is out of memory");
		return;
	}
	call->method->handle(call, bytes, n, call->host->config->context);
}

static void check_request(struct rpc_call *call)
{
	/* No handler, then: it could not learn of the end, which is past. */
	if (call->is_closed)
		rpc_call_fail(call, RPC_CANCELLED, "given up before it began");
	else if (!call->request)
		rpc_call_fail(call, RPC_INVALID_ARGUMENT,
			"the request has no message, or one above 4 MiB");
	else if (message_is_compressed(call->request))
		rpc_call_fail(call, RPC_UNIMPLEMENTED,
			"the request is compressed; send it without compression");
	else if (grpc_byte_buffer_length(call->request) > call->method->max_request_bytes)
		refuse_large_request(call, grpc_byte_buffer_length(call->request));
	else
		handle_request(call);
}

static void on_received(struct tag *tag, bool ok)
{
	struct rpc_call *call = call_of(tag, received);

	(void)ok; /* false is a NULL request, too */
	check_request(call);
	event_done(call);
}

static void start_op(struct rpc_call *call, const grpc_op *op, struct tag *tag)
{
	handoff_give(tag);
	/* Fails on misuse only; then the empty batch makes the event come. */
	if (grpc_call_start_batch(call->grpc, op, 1, tag, NULL) != GRPC_CALL_OK)
		grpc_call_start_batch(call->grpc, NULL, 0, tag, NULL);
}

static void receive_request(struct rpc_call *call)
{
	grpc_op op = {.op = GRPC_OP_RECV_MESSAGE};

	op.data.recv_message.recv_message = &call->request;
	call->n_events_due++;
	start_op(call, &op, &call->received);
}

static void watch_close(struct rpc_call *call)
{
	grpc_op op = {.op = GRPC_OP_RECV_CLOSE_ON_SERVER};

	op.data.recv_close_on_server.cancelled = &call->given_up;
	call->n_events_due++;
	start_op(call, &op, &call->closed);
}

/* Arrival. */

static const struct rpc_method *find_method(const struct rpc_server_config *config, grpc_slice path)
{
	for (size_t i = 0; i < config->n_methods; i++) {
		if (!grpc_slice_str_cmp(path, config->methods[i].path))
			return &config->methods[i];
	}
	return NULL;
}

static void refuse_unknown(struct rpc_call *call)
{
	const struct rpc_server_config *config = call->host->config;
	char *path = grpc_slice_to_c_string(call->details.method);

	if (config->unknown)
		config->unknown(path, config->context);
	gpr_free(path);
	rpc_call_fail(call, RPC_UNIMPLEMENTED, "no such method here");
}

static void on_arrived(struct tag *tag, bool ok)
{
	struct rpc_call *call = call_of(tag, arrived);
	struct call_host *host = call->host;

	host->armed = NULL;
	if (!ok) {
		host->closed = true;
		call_free(call);
		return;
	}
	host->n_live++;
	call->connection = conduct_find_connection(call->grpc);
	conduct_note_arrival(&host->conduct, call->connection);
	call->n_events_due = 1; /* the answer's */
	call_arm(host);
	call->method = find_method(host->config, call->details.method);
	watch_close(call);
	if (call->method)
		receive_request(call);
	else
		refuse_unknown(call);
}

static struct rpc_call *call_new(struct call_host *host)
{
	struct rpc_call *call = calloc(1, sizeof *call);

	if (!call)
		return NULL;
	call->host = host;
	call->arrived.done = on_arrived;
	call->received.done = on_received;
	call->closed.done = on_closed;
	call->sent.done = on_sent;
	grpc_call_details_init(&call->details);
	grpc_metadata_array_init(&call->metadata);
	return call;
}

void call_arm(struct call_host *host)
{
	struct rpc_call *call;

	if (host->armed || host->closed)
		return;
	/* Out of memory: the end of any call in flight, event_done(), tries again. */
	call = call_new(host);
	if (!call)
		return;
	handoff_give(&call->arrived);
	if (grpc_server_request_call(host->server, &call->grpc, &call->details, &call->metadata,
		    host->queue, host->queue, &call->arrived) != GRPC_CALL_OK) {
		call_free(call);
		return;
	}
	host->armed = call;
}

int64_t rpc_call_get_deadline_ns(const struct rpc_call *call)
{
	gpr_timespec t = gpr_convert_clock_type(call->details.deadline, GPR_CLOCK_MONOTONIC);

	if (t.tv_sec >= INT64_MAX / 1000000000)
		return INT64_MAX;
	return t.tv_sec * 1000000000 + t.tv_nsec;
}
