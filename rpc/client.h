/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gRPC calls on a connected socket. The client connects the socket itself, so that it knows the
 * exact reason of a failed connect; this file resolves no names and uses no proxy or retry. A
 * server that calls other servers, and has no user to explain a failure to, lets gRPC connect
 * instead (rpc_channel_new_to()).
 */
#ifndef RPC_CLIENT_H
#define RPC_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rpc/server.h" /* enum rpc_status, rpc_status_name */

struct rpc_channel;

/* Consumes |fd|. |authority| is the text of the :authority header, e.g. "127.0.0.1:9999". */
int rpc_channel_new(int fd, const char *authority, struct rpc_channel **out, struct diag *d);
/* The same for one of many channels: each of its streams gets a window of 256 KiB. */
int rpc_channel_new_narrow(int fd, const char *authority, struct rpc_channel **out, struct diag *d);
/*
 * A channel to |address|, "host:port", "[::1]:port" or "unix:/path". The first call resolves the
 * name and connects; the status text of the call has the reason if that fails.
 */
struct rpc_channel *rpc_channel_new_to(const char *address); /* NULL when memory ran out */
struct rpc_channel *rpc_channel_free(struct rpc_channel *channel); /* NULL ok; returns NULL */

#define RPC_TARGET_BYTES 80 /* with the '\0' */

/*
 * Makes every later call on |channel| name its target in the metadata "proftap-target": a host
 * daemon passes the call on to that program. |target| is copied, and cut; it must be printable
 * ASCII.
 */
void rpc_channel_set_target(struct rpc_channel *channel, const char *target);

struct rpc_request {
	const char *path;
	const uint8_t *message;
	size_t message_bytes;
	int64_t timeout_ms; /* from now; < 0: none */
	uint64_t max_reply_bytes; /* 0: 2^31 - 1; for a stream, the limit of each message */
};

/*
 * A reply above |max_reply_bytes| is refused. Until then it takes no more memory than the largest
 * limit of any request on the channel, and some 32 MiB.
 */

/* A call in flight. */
struct rpc_pending;

int rpc_call_start(struct rpc_channel *channel, const struct rpc_request *request,
	struct rpc_pending **out, struct diag *d);

/* The same for a call that is answered by any number of messages; rpc_pending_next() reads them. */
int rpc_stream_start(struct rpc_channel *channel, const struct rpc_request *request,
	struct rpc_pending **out, struct diag *d);

/*
 * Waits up to |wait_ms| (< 0: without limit) for the end. Returns 1 when the call has ended, and
 * the getters may read its result; 0 if it has not. Messages of a stream are dropped. One thread at
 * a time. Waiting for one call also makes progress on all others of the process: to wait for many
 * calls, wait for one a short time, and poll the others with 0.
 */
int rpc_pending_wait(struct rpc_pending *pending, int64_t wait_ms);

/*
 * Streams only: frees the current message, if any, and waits up to |wait_ms| (< 0: without limit)
 * for the next one. Returns 1 when there is one, which rpc_pending_read() and
 * rpc_pending_get_bytes() read until the next call; 0 when it has not come, or the stream has
 * ended. Apart from messages already on their way, the server sends none before this function asks
 * for it: a slow reader holds the server back and needs little memory.
 */
int rpc_pending_next(struct rpc_pending *pending, int64_t wait_ms);
/*
 * Streams only: waits up to |wait_ms| (< 0: without limit) until the server has begun to answer, or
 * the call has ended, and takes no message. Returns 1 in both cases, else 0. It lets a caller that
 * can hold only one of many large answers in memory read them in turn.
 */
int rpc_pending_await_answer(struct rpc_pending *pending, int64_t wait_ms);
bool rpc_pending_has_ended(const struct rpc_pending *pending);

/* Returns true if the answer so far has the role |role| (struct rpc_server_config). */
bool rpc_pending_is_from(const struct rpc_pending *pending, const char *role);

void rpc_pending_cancel(struct rpc_pending *pending);

/* Call these after the call has ended; for the message of a stream, also before. */
/*
 * Returns the reason why the reply was refused: it is compressed, too large, or, unless it is a
 * stream, more than one message. A refused reply counts as INTERNAL. NULL: it was not refused.
 */
const char *rpc_pending_get_fault(const struct rpc_pending *pending);
/* enum rpc_status, or a number outside of it */
int rpc_pending_get_status(const struct rpc_pending *pending);
const char *rpc_pending_get_text(const struct rpc_pending *pending); /* status text, "" if none */
/*
 * Returns true if there is a message: the reply, or one of a stream. A call can end with OK and
 * without a message.
 */
bool rpc_pending_has_message(const struct rpc_pending *pending);
/*
 * Reads the message piece by piece, without a copy: calls |piece| for each until it returns
 * nonzero, and returns that; 0 at the end. -ENODATA if there is no message.
 */
int rpc_pending_read(struct rpc_pending *pending,
	int (*piece)(const uint8_t *data, size_t n, void *context), void *context);
/*
 * Copies the message into |to|, which has room for |size| bytes, and sets *n_out to its length.
 * -EMSGSIZE if it does not fit.
 */
int rpc_pending_copy(struct rpc_pending *pending, uint8_t *to, size_t size, size_t *n_out);
uint64_t rpc_pending_get_bytes(const struct rpc_pending *pending); /* size of the message */

struct rpc_pending *rpc_pending_free(struct rpc_pending *pending); /* cancels if in flight */

#endif
