/* SPDX-License-Identifier: Apache-2.0 */
/* One call on the server; see call.h. */
#include "rpc/call.h"

#include <errno.h>
#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <grpc/slice.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/grow.h"
#include "rpc/client.h"
#include "rpc/client_parts.h"
#include "rpc/handoff.h"
#include "rpc/message.h"
#include "rpc/socket.h"

/* This is higher than the announced limit on streams, which well-behaved clients keep. */
#define MAX_OPEN_CALLS 64
/* A peer may give up this many calls at once, and one more in each interval. */
#define GIVEN_UP_BURST 64
#define GIVEN_UP_INTERVAL_NS (NS_PER_S / 10)

/* --- limits on peers ------------------------------------------------------------------------- */

struct peer_limit {
	ino_t inode; /* identifies the connection: descriptors are reused */
	unsigned n_open;
	unsigned n_given_up; /* reduced by one in each interval */
	int64_t forgiven_until_ns;
};

void peer_limits_deinit(struct peer_limits *c)
{
	free(c->peers);
	memset(c, 0, sizeof *c);
}

/*
 * Returns the connection of |call|, for the functions below; -1 when it is not known. gRPC calls an
 * adopted connection "fd:N", and closes N only when its last call has ended.
 */
static int peer_limits_find_connection(grpc_call *call)
{
	char *peer = grpc_call_get_peer(call);
	int fd;

	if (!peer || sscanf(peer, "fd:%d", &fd) != 1)
		fd = -1;
	gpr_free(peer);
	return fd;
}

/* Returns the counts of |connection|. NULL: it is not known, or memory ran out. */
static struct peer_limit *peer_limits_find(struct peer_limits *c, int connection)
{
	size_t n = c->n_peers;

	if (connection < 0 || grow(&c->peers, &c->n_peers, (size_t)connection + 1))
		return NULL;
	memset(c->peers + n, 0, (c->n_peers - n) * sizeof *c->peers);
	return &c->peers[connection];
}

/*
 * Resets the counts if the descriptor was reused. Only a connection without calls can have been
 * closed.
 */
static void peer_limit_reset_if_reused(struct peer_limit *peer, int connection)
{
	ino_t inode = socket_find_inode(connection);

	if (inode != peer->inode)
		*peer = (struct peer_limit){.inode = inode};
}

/*
 * A call arrived, ended, or was given up by its peer before it was answered. Each call that arrived
 * must also end; the connection stays valid until then. These functions hang up on a peer that
 * exceeds a limit.
 */
static void peer_limits_note_arrival(struct peer_limits *c, int connection)
{
	struct peer_limit *peer = peer_limits_find(c, connection);

	if (!peer)
		return;
	if (!peer->n_open)
		peer_limit_reset_if_reused(peer, connection);
	if (++peer->n_open > MAX_OPEN_CALLS)
		socket_hang_up(connection);
}

static void peer_limits_note_end(struct peer_limits *c, int connection)
{
	struct peer_limit *peer = peer_limits_find(c, connection);

	if (peer && peer->n_open)
		peer->n_open--;
}

static void peer_limit_forgive(struct peer_limit *peer, int64_t now_ns)
{
	int64_t n = (now_ns - peer->forgiven_until_ns) / GIVEN_UP_INTERVAL_NS;

	peer->forgiven_until_ns += n * GIVEN_UP_INTERVAL_NS;
	peer->n_given_up = n >= peer->n_given_up ? 0 : peer->n_given_up - (unsigned)n;
}

static void peer_limits_note_given_up(struct peer_limits *c, int connection, int64_t now_ns)
{
	struct peer_limit *peer = peer_limits_find(c, connection);

	if (!peer)
		return;
	peer_limit_forgive(peer, now_ns);
	if (++peer->n_given_up > GIVEN_UP_BURST)
		socket_hang_up(connection);
}

/* --- the life of a call ----------------------------------------------------------------------- */

static void call_free(struct rpc_call *call)
{
	if (call->grpc)
		grpc_call_unref(call->grpc);
	if (call->request)
		grpc_byte_buffer_destroy(call->request);
	grpc_call_details_destroy(&call->details);
	grpc_metadata_array_destroy(&call->metadata);
	free(call->text);
	free(call);
}

void call_event_done(struct rpc_call *call)
{
	struct call_host *host = call->host;

	if (atomic_fetch_sub(&call->n_events_due, 1) != 1)
		return;
	host->n_live--;
	peer_limits_note_end(&host->limits, call->connection);
	call_free(call);
	call_arm(host);
}

/* --- The answer ------------------------------------------------------------------------------ */

static void on_sent(struct tag *tag, bool ok)
{
	(void)ok; /* false: the client went away first */
	call_event_done(call_of(tag, sent));
}

void call_start_batch(struct rpc_call *call, const grpc_op *ops, size_t n, struct tag *tag)
{
	grpc_call *grpc = call->grpc;

	handoff_give(tag);
	if (grpc_call_start_batch(grpc, ops, n, tag, NULL) != GRPC_CALL_OK) {
		grpc_call_cancel(grpc, NULL);
		/* An empty batch only delivers the event. */
		grpc_call_start_batch(grpc, NULL, 0, tag, NULL);
	}
}

grpc_op call_make_head(const struct call_host *host)
{
	grpc_op op = {.op = GRPC_OP_SEND_INITIAL_METADATA};

	op.data.send_initial_metadata.count = host->config->role != NULL;
	op.data.send_initial_metadata.metadata = (grpc_metadata *)&host->role;
	return op;
}

void call_send_answer(
	struct rpc_call *call, grpc_byte_buffer *message, enum rpc_status status, const char *text)
{
	grpc_slice details = grpc_slice_from_copied_string(text);
	grpc_op ops[3];
	size_t n = 0;

	memset(ops, 0, sizeof ops);
	if (!call->is_begun)
		ops[n++] = call_make_head(call->host);
	if (message) {
		ops[n].op = GRPC_OP_SEND_MESSAGE;
		ops[n++].data.send_message.send_message = message;
	}
	ops[n].op = GRPC_OP_SEND_STATUS_FROM_SERVER;
	ops[n].data.send_status_from_server.status = (grpc_status_code)status;
	ops[n++].data.send_status_from_server.status_details = &details;
	call_start_batch(call, ops, n, &call->sent);
	grpc_slice_unref(details);
	if (message)
		grpc_byte_buffer_destroy(message);
}

void call_note_answer(struct rpc_call *call, enum rpc_status status, const char *text)
{
	const struct rpc_server_config *config = call->host->config;

	atomic_store(&call->is_answered, true);
	if (config->on_answer)
		config->on_answer(call, status, text, config->context);
}

/* --- Cancellation ---------------------------------------------------------------------------- */

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
	stream_note_gone(call);
	if (call->given_up)
		peer_limits_note_given_up(&call->host->limits, call->connection, monotonic_ns());
	if (call->given_up && call->on_cancel && !atomic_load(&call->is_answered))
		call->on_cancel(call, call->on_cancel_context);
	call_event_done(call);
}

/* --- The request ----------------------------------------------------------------------------- */

static void refuse_large_request(struct rpc_call *call, size_t bytes)
{
	rpc_call_fail_with(call, RPC_RESOURCE_EXHAUSTED,
		"%s: the request is %zu bytes; it may have %zu at most", call->method->path, bytes,
		call->method->max_request_bytes);
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
	/*
	 * Do not call the handler: the cancellation has passed, so the handler could not learn of
	 * it.
	 */
	if (call->is_closed)
		rpc_call_fail(call, RPC_CANCELLED, "given up before it began");
	else if (!call->request && call->method->kind == RPC_BIDI)
		rpc_call_finish(call, RPC_OK, ""); /* the client has nothing more to ask */
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

	(void)ok; /* if false, the request is NULL as well */
	call->host->n_asked--;
	check_request(call);
	call_event_done(call);
}

void call_receive(struct rpc_call *call)
{
	grpc_op op = {.op = GRPC_OP_RECV_MESSAGE};

	if (call->request)
		grpc_byte_buffer_destroy(call->request);
	call->request = NULL;
	op.data.recv_message.recv_message = &call->request;
	call->host->n_asked++;
	call->n_events_due++;
	call_start_batch(call, &op, 1, &call->received);
}

static void watch_close(struct rpc_call *call)
{
	grpc_op op = {.op = GRPC_OP_RECV_CLOSE_ON_SERVER};

	op.data.recv_close_on_server.cancelled = &call->given_up;
	call->n_events_due++;
	call_start_batch(call, &op, 1, &call->closed);
}

/* --- Arrival --------------------------------------------------------------------------------- */

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
	call->connection = peer_limits_find_connection(call->grpc);
	peer_limits_note_arrival(&host->limits, call->connection);
	call->n_events_due = 1; /* the event of the answer */
	call_arm(host);
	call->method = find_method(host->config, call->details.method);
	watch_close(call);
	if (call->method)
		call_receive(call);
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
	call->begun.done = stream_on_begun;
	call->wrote.done = stream_on_wrote;
	grpc_call_details_init(&call->details);
	grpc_metadata_array_init(&call->metadata);
	return call;
}

void call_arm(struct call_host *host)
{
	struct rpc_call *call;

	if (host->armed || host->closed)
		return;
	/* Out of memory. The end of any call in flight, call_event_done(), tries again. */
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

int rpc_call_get_connection(const struct rpc_call *call)
{
	return call->connection;
}

const struct rpc_method *rpc_call_get_method(const struct rpc_call *call)
{
	return call->method;
}

void rpc_call_get_target(const struct rpc_call *call, char *out, size_t n)
{
	out[0] = '\0';
	for (size_t i = 0; i < call->metadata.count; i++) {
		const grpc_metadata *m = &call->metadata.metadata[i];

		if (grpc_slice_str_cmp(m->key, TARGET_KEY) == 0)
			snprintf(out, n, "%.*s", (int)GRPC_SLICE_LENGTH(m->value),
				(const char *)GRPC_SLICE_START_PTR(m->value));
	}
}

void rpc_call_get_host(const struct rpc_call *call, char *out, size_t n)
{
	const char *text = (const char *)GRPC_SLICE_START_PTR(call->details.host);
	size_t n_text = GRPC_SLICE_LENGTH(call->details.host);
	const char *colon = memrchr(text, ':', n_text);

	if (colon && !memchr(colon, ']', n_text - (size_t)(colon - text)))
		n_text = (size_t)(colon - text);
	snprintf(out, n, "%.*s", (int)n_text, text);
}

void rpc_call_set_note(struct rpc_call *call, void *note)
{
	call->note = note;
}

void *rpc_call_get_note(const struct rpc_call *call)
{
	return call->note;
}

uint64_t rpc_call_get_bytes(const struct rpc_call *call)
{
	return call->n_bytes;
}

int64_t rpc_call_get_deadline_ns(const struct rpc_call *call)
{
	gpr_timespec t = gpr_convert_clock_type(call->details.deadline, GPR_CLOCK_MONOTONIC);

	if (t.tv_sec >= INT64_MAX / NS_PER_S)
		return INT64_MAX;
	/* gRPC's monotonic clock need not be the kernel's: later versions add 5 s. */
	t = gpr_time_sub(t, gpr_now(GPR_CLOCK_MONOTONIC));
	return monotonic_ns() + t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* --- relays ----------------------------------------------------------------------------------- */

static grpc_byte_buffer *take_message(struct rpc_pending *pending)
{
	grpc_byte_buffer *message = pending->reply;

	pending->reply = NULL;
	return message;
}

int rpc_relay_message(struct rpc_call *to, struct rpc_pending *from, int64_t timeout_ms)
{
	int r = rpc_pending_has_message(from) ? rpc_call_flush(to, timeout_ms) : -ENODATA;

	if (!r)
		stream_send_message(to, take_message(from));
	return r;
}

/* A server must not send a status that gRPC does not define, so such a number becomes UNKNOWN. */
static enum rpc_status get_status(const struct rpc_pending *from)
{
	int status = rpc_pending_get_status(from);

	return status >= RPC_OK && status <= RPC_UNAUTHENTICATED ? (enum rpc_status)status
								 : RPC_UNKNOWN;
}

void rpc_relay_end(struct rpc_call *to, struct rpc_pending *from)
{
	rpc_call_finish(to, get_status(from), rpc_pending_get_text(from));
}

void rpc_relay_reply(struct rpc_call *to, struct rpc_pending *from)
{
	if (rpc_pending_get_status(from) != RPC_OK) {
		rpc_relay_end(to, from);
	} else if (!rpc_pending_has_message(from)) {
		rpc_call_fail(to, RPC_INTERNAL, "the other server sent no answer");
	} else {
		to->n_bytes += rpc_pending_get_bytes(from);
		call_note_answer(to, RPC_OK, "");
		call_send_answer(to, take_message(from), RPC_OK, "");
	}
}
