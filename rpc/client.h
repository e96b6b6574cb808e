/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gRPC calls on a connected socket. The caller connects by itself, so that the reason for a
 * failed connect is exact; no name resolution, proxy or retry happens in here. A server that asks others, and has
 * nobody to explain it to, lets gRPC connect.
 */
#ifndef RPC_CLIENT_H
#define RPC_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rpc/server.h" /* enum rpc_status, rpc_status_name */

struct rpc_channel;

/* Consumes |fd|. |authority| is what the :authority header says, e.g. "127.0.0.1:9999". */
int rpc_channel_new(int fd, const char *authority, struct rpc_channel **out, struct diag *d);
/* The same for one of many, whose streams get a window of 256 KiB each. */
int rpc_channel_new_narrow(int fd, const char *authority, struct rpc_channel **out, struct diag *d);
/* To |address|, "host:port", "[::1]:port" or "unix:/path": the name is looked up and connected to with the first call, whose outcome says why not. */
struct rpc_channel *rpc_channel_new_to(const char *address); /* NULL when memory ran out */
struct rpc_channel *rpc_channel_free(struct rpc_channel *channel); /* NULL ok; returns NULL */

#define RPC_TARGET_BYTES 80 /* with its end */

/*
 * Every call on |channel| from now on says in its metadata, "proftap-target", whom it is for: of a host daemon, which passes it on.
 * |target| is copied, and cut; what is not printable ASCII must not be in it.
 */
void rpc_channel_set_target(struct rpc_channel *channel, const char *target);

struct rpc_request {
	const char *path;
	const uint8_t *message;
	size_t message_bytes;
	int64_t timeout_ms; /* from now; < 0: none */
	uint64_t max_reply_bytes; /* 0: 2^31 - 1; of a stream, in each message */
};

/*
 * A reply that is larger is refused, and takes no more memory than the largest that was asked for on the channel, and some
 * 32 MiB.
 */

/* A call in flight. */
struct rpc_pending;

int rpc_call_start(struct rpc_channel *channel, const struct rpc_request *request,
	struct rpc_pending **out, struct diag *d);

/* The same for a call that is answered by any number of messages; they are read with rpc_pending_next(). */
int rpc_stream_start(struct rpc_channel *channel, const struct rpc_request *request,
	struct rpc_pending **out, struct diag *d);

/*
 * Waits up to |wait_ms| (< 0: without limit) for the end. Returns 1 when the call has ended, 0 when
 * not yet. Call it again until 1; then read the result with the getters. Messages of a stream are dropped. One thread at
 * a time. Whoever waits for one call of the process also makes the others go on: of many, wait for one a short time, and
 * ask the others with 0.
 */
int rpc_pending_wait(struct rpc_pending *pending, int64_t wait_ms);

/*
 * Of a stream: frees the message that was there, if any, and waits up to |wait_ms| (< 0: without limit) for the next
 * one. Returns 1 when it is there, for rpc_pending_read() and rpc_pending_get_bytes(), until the next call; 0 when not yet, or
 * when the stream has ended. No message is taken from the server before it is asked for in this way, apart from what is on
 * its way already: a slow reader holds the server back, and needs little memory.
 */
int rpc_pending_next(struct rpc_pending *pending, int64_t wait_ms);
/*
 * Of a stream: waits up to |wait_ms| (< 0: without limit) until the server has begun to answer, or the call has ended, and
 * takes no message. 1 when it has. Who may hold only one of many large answers in memory reads them by turns.
 */
int rpc_pending_await_answer(struct rpc_pending *pending, int64_t wait_ms);
bool rpc_pending_has_ended(const struct rpc_pending *pending);

/* Whether its server, as far as it has answered, says that it is |role| (struct rpc_server_config). */
bool rpc_pending_is_from(const struct rpc_pending *pending, const char *role);

void rpc_pending_cancel(struct rpc_pending *pending);

/* After the end: */
/*
 * What is wrong with the reply, which then counts as INTERNAL: it is compressed, too large, or, unless it is
 * a stream, more than one message. NULL: nothing.
 */
const char *rpc_pending_get_fault(const struct rpc_pending *pending);
int rpc_pending_get_status(const struct rpc_pending *pending); /* enum rpc_status, or a stranger */
const char *rpc_pending_get_text(const struct rpc_pending *pending); /* status text, "" if none */
/* Whether there is a message, the reply's or a stream's. A call can end with OK and without one. */
bool rpc_pending_has_message(const struct rpc_pending *pending);
/*
 * The message, the reply's or a stream's, piece by piece, without a copy: calls |piece| for each until it returns
 * nonzero, which is then returned; 0 at the end. -ENODATA if there is no message.
 */
int rpc_pending_read(struct rpc_pending *pending,
	int (*piece)(const uint8_t *data, size_t n, void *context), void *context);
/* The same into |to|, which has room for |size| bytes; *n_out: how many there were. -EMSGSIZE when they are more. */
int rpc_pending_copy(struct rpc_pending *pending, uint8_t *to, size_t size, size_t *n_out);
uint64_t rpc_pending_get_bytes(const struct rpc_pending *pending); /* of the message */

struct rpc_pending *rpc_pending_free(struct rpc_pending *pending); /* cancels if in flight */

#endif
