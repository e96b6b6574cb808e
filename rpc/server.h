/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gRPC server on connections that the caller accepted. This folder alone includes grpc; its
 * interface is bytes in, bytes out.
 *
 * Threads: handlers run on the server's own thread, one at a time, and must return at once. Any
 * thread may answer a call later, exactly once. One thread at a time uses a call.
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

/*
 * Returns static text, such as "INVALID_ARGUMENT"; "UNKNOWN" for a number outside of enum
 * rpc_status.
 */
const char *rpc_status_name(int status);

enum rpc_kind {
	RPC_UNARY,
	RPC_SERVER_STREAM, /* answered by messages, rpc_call_write(), and then rpc_call_finish() */
	/*
	 * The client sends messages, too. The handler gets each one, and answers it, at once or
	 * later, by one rpc_call_write(), which gives the call back: the handler gets the next
	 * message when that answer was taken. rpc_call_finish() ends the call instead. When the
	 * client has no more to send, the call ends with OK by itself.
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

/* The role of a server that passes calls on to the programs of a machine. */
#define RPC_ROLE_HOST "host"

struct rpc_server_config {
	const struct rpc_method *methods; /* borrowed for the server's life */
	size_t n_methods;
	void *context; /* passed to every handler */
	const char *role; /* NULL ok: static text that each answer carries in its metadata */
	/* NULL ok: called for a method outside of the table */
	void (*unknown)(const char *path, void *context);
	/*
	 * NULL ok: called for each call by the thread that answers it; |call| is valid until it
	 * returns.
	 */
	void (*on_answer)(
		struct rpc_call *call, enum rpc_status status, const char *text, void *context);
};

/*
 * Makes each thread poll the connections that it waits for. By default, one thread of gRPC polls
 * for all and wakes the others: three times for a message that is passed on. Polling by each thread
 * suits a process with a thread for each call, up to some hundreds. Call this before anything else
 * here, while the process has one thread.
 */
void rpc_poll_by_thread(void);

/*
 * Starts gRPC and the server's thread, in which all signals are blocked. A call of a method that is
 * not in the table is answered UNIMPLEMENTED at once.
 */
int rpc_server_new(const struct rpc_server_config *config, struct rpc_server **out, struct diag *d);

/*
 * Stops the server: refuses new calls, cancels those in flight (their on_cancel runs), waits until
 * their owners have answered all of them, and frees it. NULL ok. Returns NULL. Do not call it from
 * a handler.
 */
struct rpc_server *rpc_server_free(struct rpc_server *server);

/*
 * Stops the server of a process that is about to end: lets calls in flight and answers on their way
 * end, as long as peers take at least 4 KiB in every |grace_ms|, then refuses new calls, and soon
 * cancels those that are left. Frees nothing: after a write that had to wait, gRPC's own shutdown
 * takes up to 10 s. NULL ok.
 */
void rpc_server_finish(struct rpc_server *server, int grace_ms);

/*
 * Serves the accepted, connected socket |fd|; always consumes it. Not while another thread is here
 * or in rpc_server_finish().
 */
int rpc_server_adopt(struct rpc_server *server, int fd, struct diag *d);

/*
 * Returns the socket of the call's connection, for getsockopt(); -1 when it is not known. Valid
 * until the call is answered.
 */
int rpc_call_get_connection(const struct rpc_call *call);

/* Returns the call's method, a row of the table. */
const struct rpc_method *rpc_call_get_method(const struct rpc_call *call);

/*
 * Copies the target that the client named by rpc_channel_set_target() into |out|: cut to |n| bytes,
 * "" if it named none.
 */
void rpc_call_get_target(const struct rpc_call *call, char *out, size_t n);

/*
 * Copies the host that the client connected to (":authority"), without a port, into |out|: cut to
 * |n| bytes.
 */
void rpc_call_get_host(const struct rpc_call *call, char *out, size_t n);

/* A pointer that the handler attaches to the call, for on_answer for example; NULL at first. */
void rpc_call_set_note(struct rpc_call *call, void *note);
void *rpc_call_get_note(const struct rpc_call *call);

/* Returns the size of the messages sent so far, the answer included. */
uint64_t rpc_call_get_bytes(const struct rpc_call *call);

/* Returns the client's deadline: CLOCK_MONOTONIC ns, or INT64_MAX for none. */
int64_t rpc_call_get_deadline_ns(const struct rpc_call *call);

/*
 * Asks for |on_cancel| when the client goes away, its deadline passes, or the server stops before
 * the call was answered. It runs on the server's thread, at most once, and the call must still be
 * answered, in |on_cancel| or later. Set it in the handler, before the call is passed on or
 * answered.
 * Threads: it can overlap an answer given by another thread, and |call| is valid until it returns;
 * so |context| must outlive the call.
 */
void rpc_call_set_on_cancel(
	struct rpc_call *call, void (*on_cancel)(struct rpc_call *, void *), void *context);

/*
 * Answers OK with |message|, which is always consumed (its chunks are sent without a copy and freed
 * when sent). |call| is invalid afterwards. A message above 2^31-1 bytes is answered with
 * RESOURCE_EXHAUSTED instead, because stock clients cannot receive it. Any thread may call it.
 */
void rpc_call_reply(struct rpc_call *call, struct chunks *message);

/*
 * Answers a call of any kind with an error. |text| is copied. |call| is invalid afterwards. Any
 * thread may call it.
 */
void rpc_call_fail(struct rpc_call *call, enum rpc_status status, const char *text);
/* The same with a formatted text: at most 511 bytes, made printable. */
void rpc_call_fail_with(struct rpc_call *call, enum rpc_status status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* --- Streams --------------------------------------------------------------------------------- */

/*
 * Tells the client that the call was accepted, before there is a message. Optional: the first
 * message does it.
 */
void rpc_call_begin(struct rpc_call *call);

/*
 * Sends |message|, always consumed, as soon as the transport has taken the one before; a peer that
 * does not read holds the transport back. So at most one message is in memory. Waits up to
 * |timeout_ms| (< 0: without limit). The first message of a call never waits.
 * Errors: -ECANCELED: the client went away, its deadline has passed, or the server stops.
 * -ETIMEDOUT: the peer took nothing within the time. -ENOMEM, which |message| may hold already;
 * -EMSGSIZE above 2^31-1 bytes. After an error the call must still be finished.
 * Threads: any but the server's own, unless it is the first message, or the call is RPC_BIDI.
 */
int rpc_call_write(struct rpc_call *call, struct chunks *message, int64_t timeout_ms);

/* Waits until the last message was taken, with the timeout and the errors of rpc_call_write(). */
int rpc_call_flush(struct rpc_call *call, int64_t timeout_ms);

/*
 * Ends the call after its messages; |text| is copied. With RPC_OK a message that was not taken is
 * still delivered while the client is there: call rpc_call_flush() first if its memory counts. An
 * error discards such a message. |call| is invalid afterwards. Any thread, does not wait.
 */
void rpc_call_finish(struct rpc_call *call, enum rpc_status status, const char *text);

#endif
