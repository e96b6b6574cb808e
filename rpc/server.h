/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gRPC server on connections that somebody else accepted. This folder is the only one that
 * includes grpc; everything here is bytes in, bytes out.
 *
 * Threads: handlers run on the server's own thread, one at a time, and must return at once; a call
 * may be answered later from any thread, exactly once. One thread at a time uses a call.
 */
#ifndef RPC_SERVER_H
#define RPC_SERVER_H

#include <stddef.h>
#include <stdint.h>

struct chunks;
struct diag;
struct rpc_server;
struct rpc_call;

/* The gRPC status codes that we send or read; the values are gRPC's own. */
enum rpc_status {
	RPC_OK = 0,
	RPC_CANCELLED = 1,
	RPC_UNKNOWN = 2,
	RPC_INVALID_ARGUMENT = 3,
	RPC_DEADLINE_EXCEEDED = 4,
	RPC_NOT_FOUND = 5,
	RPC_ALREADY_EXISTS = 6,
	RPC_PERMISSION_DENIED = 7,
	RPC_RESOURCE_EXHAUSTED = 8,
	RPC_FAILED_PRECONDITION = 9,
	RPC_ABORTED = 10,
	RPC_OUT_OF_RANGE = 11,
	RPC_UNIMPLEMENTED = 12,
	RPC_INTERNAL = 13,
	RPC_UNAVAILABLE = 14,
	RPC_DATA_LOSS = 15,
	RPC_UNAUTHENTICATED = 16,
};

/* "INVALID_ARGUMENT" and so on; "UNKNOWN" for a number that is none of ours. Static text. */
const char *rpc_status_name(int status);

enum rpc_kind {
	RPC_UNARY,
	RPC_SERVER_STREAM, /* answered by messages, rpc_call_write(), and rpc_call_finish() */
	/*
	 * The client sends messages, too. The handler gets each, and answers it by one rpc_call_write(), there or later,
	 * which hands the call back: the handler gets the next message when that answer is taken. Or it answers by
	 * rpc_call_finish(). When the client has no more to send, the call ends OK without it.
	 */
	RPC_BIDI,
};

/* One row per method. |request| is contiguous, valid until the handler returns. */
struct rpc_method {
	const char *path; /* "/tensorflow.ProfilerService/Profile" */
	size_t max_request_bytes; /* larger requests are RESOURCE_EXHAUSTED */
	void (*handle)(
		struct rpc_call *call, const uint8_t *request, size_t request_bytes, void *context);
	enum rpc_kind kind;
};

/* Of a server that passes calls on to the programs of a machine. */
#define RPC_ROLE_HOST "host"

struct rpc_server_config {
	const struct rpc_method *methods; /* borrowed for the server's life */
	size_t n_methods;
	void *context; /* passed to every handler */
	const char
		*role; /* NULL ok: what each answer says its server is, in its metadata; static */
	void (*unknown)(const char *path, void *context); /* NULL ok: a method nobody knows */
	/* NULL ok: each call, as it is answered, by whoever answers it; |call| is valid until it returns. */
	void (*on_answer)(
		struct rpc_call *call, enum rpc_status status, const char *text, void *context);
};

/*
 * To be called before anything else here, while there is one thread: each thread polls the connections that it waits for. As gRPC has
 * it, one thread polls for all, and wakes the others: three times for a message that is passed on. For a process with a thread for each
 * call, some hundreds at most.
 */
void rpc_poll_by_thread(void);

/*
 * Starts gRPC and the server's thread (all signals blocked in it). Methods not in the table are
 * answered UNIMPLEMENTED at once.
 */
int rpc_server_new(const struct rpc_server_config *config, struct rpc_server **out, struct diag *d);

/*
 * Stops: refuses new calls, cancels those in flight (their on_cancel runs), waits for all calls to
 * be answered by their owners, frees. NULL ok. Returns NULL. Not from a handler.
 */
struct rpc_server *rpc_server_free(struct rpc_server *server);

/*
 * For a process that is about to end: refuses new calls and lets those in flight, and answers on their way, come to their end, as
 * long as peers take something of them in every |grace_ms|. Nothing is freed: after a write that had to wait, gRPC's own shutdown takes up to 10 s. NULL ok.
 */
void rpc_server_finish(struct rpc_server *server, int grace_ms);

/* Serves the accepted, connected socket |fd|; always consumes it. Any thread. */
int rpc_server_adopt(struct rpc_server *server, int fd, struct diag *d);

/*
 * The connection that the call came by, to be looked at (getsockopt); -1 when it is not known. Valid until the call is
 * answered.
 */
int rpc_call_get_connection(const struct rpc_call *call);

/* The method that it is for, of the table. */
const struct rpc_method *rpc_call_get_method(const struct rpc_call *call);

/* Whom the client says that it is for, rpc_channel_set_target(), into |out|: cut to |n| bytes, "" when it says nothing. */
void rpc_call_get_target(const struct rpc_call *call, char *out, size_t n);

/* The host that the client connected to, as it calls it (":authority"), without a port, into |out|: cut to |n| bytes. */
void rpc_call_get_host(const struct rpc_call *call, char *out, size_t n);

/* What the handler's side wants to find again, on_answer for one; NULL at first. */
void rpc_call_set_note(struct rpc_call *call, void *note);
void *rpc_call_get_note(const struct rpc_call *call);

/* Of the messages that were sent so far, the answer included. */
uint64_t rpc_call_get_bytes(const struct rpc_call *call);

/* The deadline the client gave: CLOCK_MONOTONIC ns, or INT64_MAX for none. */
int64_t rpc_call_get_deadline_ns(const struct rpc_call *call);

/*
 * Asks for |on_cancel| when the client goes away, its deadline passes, or the server stops before
 * the call was answered. Runs on the server's thread, at most once, and the call must still be
 * answered, there or later. Set it in the handler, before the call is passed on or answered.
 * Threads: it can overlap an answer given by another thread, and |call| is valid until it returns;
 * so |context| must be something that outlives the call.
 */
void rpc_call_set_on_cancel(
	struct rpc_call *call, void (*on_cancel)(struct rpc_call *, void *), void *context);

/*
 * Answers OK with |message|, which is always consumed (its chunks are sent without a copy and freed
 * when sent). |call| is invalid afterwards. A message above 2^31-1 bytes is answered
 * RESOURCE_EXHAUSTED instead: stock clients cannot receive it. Any thread.
 */
void rpc_call_reply(struct rpc_call *call, struct chunks *message);

/* Answers with an error. |text| is copied. |call| is invalid afterwards. Any thread, any kind. */
void rpc_call_fail(struct rpc_call *call, enum rpc_status status, const char *text);
/* The same with a text that is put together: at most 511 bytes, made printable. */
void rpc_call_fail_with(struct rpc_call *call, enum rpc_status status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Streams only: */

/* Tells the client that the call was accepted, before there is a message. Not needed: the first message does it. */
void rpc_call_begin(struct rpc_call *call);

/*
 * Sends |message|, always consumed, as soon as the one before was taken by the transport, which the peer holds back
 * while it does not read: at most one is in memory. Waits for that up to |timeout_ms| (< 0: without limit). The first
 * message of a call never waits.
 * Errors: -ECANCELED: the client went away, its deadline has passed, or the server stops. -ETIMEDOUT: the peer took
 * nothing for so long. -ENOMEM, also as the message's own error; -EMSGSIZE above 2^31-1 bytes. After each the call must
 * still be finished.
 * Threads: any but the server's own, unless it is the first message, or the call is RPC_BIDI.
 */
int rpc_call_write(struct rpc_call *call, struct chunks *message, int64_t timeout_ms);

/* Waits as rpc_call_write() does, and with its errors, until the last message was taken. */
int rpc_call_flush(struct rpc_call *call, int64_t timeout_ms);

/*
 * Ends the call after its messages; |text| is copied. With RPC_OK a message that was not taken is still delivered, as
 * long as the client is there: flush first where its memory counts. An error overtakes it. |call| is invalid
 * afterwards. Any thread, does not wait.
 */
void rpc_call_finish(struct rpc_call *call, enum rpc_status status, const char *text);

#endif
