/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call on the server, from the moment gRPC is asked for it to its last event.
 *
 * A call has four events, each with a tag of its own: it arrived; its request is read; it is closed
 * (answered or given up); the answer is sent. A stream has two more: its head is sent, and a
 * message is sent. Every call is answered exactly once, even one that was given up long ago: gRPC
 * drops such an answer, but its event still comes. So the server's thread always frees a call, and
 * knows when the last call has ended.
 *
 * A host daemon relays the messages of another server's answer into a call.
 */
#ifndef RPC_CALL_H
#define RPC_CALL_H

#include <grpc/grpc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rpc/server.h"

/*
 * A completion queue returns a tag with an event, and the server's thread calls |done|. |ok| comes
 * from gRPC.
 */
struct tag {
	void (*done)(struct tag *tag, bool ok);
};

/*
 * Limits on what a peer may do, connection by connection. gRPC 1.51 accepts every stream that a
 * peer opens, at 13 KiB each, even if the peer resets it immediately or never acknowledged the
 * limit on streams. The server hangs up on peers that exceed the limits. For the server's thread.
 * Zero is the state of a server without connections.
 */
struct peer_limits {
	struct peer_limit *peers; /* indexed by descriptor */
	size_t n_peers;
};

/* The part of the server that its calls use. */
struct call_host {
	const struct rpc_server_config *config;
	grpc_metadata role; /* made of config->role, if it has one; sent with every answer's head */
	grpc_server *server;
	grpc_completion_queue *queue;
	struct rpc_call *armed; /* the call that waits for the next arrival; server's thread */
	/* calls that arrived and are not yet freed; written by the server's thread */
	_Atomic size_t n_live;
	/* the part of |n_live| that waits for the client's next message and owes no answer */
	_Atomic size_t n_asked;
	struct peer_limits limits; /* on peers; server's thread */
	bool closed; /* gRPC hands out no more calls; server's thread */
};

/* Flags of rpc_call.stream, which the writer and the server's thread change. */
enum {
	STREAM_WRITING = 1, /* a message is with gRPC */
	STREAM_GONE = 2, /* the client will take nothing any more */
	STREAM_FINISHING = 4, /* the writer has finished; the status waits for the message */
};

struct rpc_call {
	struct call_host *host;
	grpc_call *grpc;
	int connection; /* see peer_limits_find_connection() */
	grpc_call_details details;
	grpc_metadata_array metadata;
	const struct rpc_method *method; /* NULL: unknown method */
	grpc_byte_buffer *request;
	int given_up; /* written by gRPC before |closed| comes */
	void (*on_cancel)(struct rpc_call *, void *);
	void *on_cancel_context;
	atomic_bool is_answered; /* set by the thread that answers */
	void *note; /* belongs to the handler */
	uint64_t n_bytes; /* of the messages sent; written by the writer */
	bool is_closed; /* server's thread */
	/*
	 * the answer's head is sent; written by the writer, and after STREAM_FINISHING by the
	 * server's thread
	 */
	bool is_begun;
	_Atomic uint32_t stream; /* STREAM_ flags; a futex */
	enum rpc_status status; /* set when a stream is finishing */
	char *text; /* malloc'ed, the text of |status|; NULL: "" */
	atomic_uint n_events_due; /* the server's thread frees the call at 0 */
	struct tag arrived;
	struct tag received;
	struct tag closed;
	struct tag sent;
	struct tag begun;
	struct tag wrote;
};

#define call_of(tag, member) ((struct rpc_call *)((char *)(tag)-offsetof(struct rpc_call, member)))

/* Makes the operation that sends an answer's head. */
grpc_op call_make_head(const struct call_host *host);
/* Starts a batch. Its event, |tag|, is counted in n_events_due already. */
void call_start_batch(struct rpc_call *call, const grpc_op *ops, size_t n, struct tag *tag);
/*
 * Starts the call's last batch; |message| may be NULL, and is consumed. After this the server's
 * thread may free the call at any moment.
 */
void call_send_answer(
	struct rpc_call *call, grpc_byte_buffer *message, enum rpc_status status, const char *text);
/*
 * Reports the answer's |status| to config->on_answer. Call it before the answer is sent, since the
 * call may be freed afterwards.
 */
void call_note_answer(struct rpc_call *call, enum rpc_status status, const char *text);
/* Asks for the client's next message. Server's thread. */
void call_receive(struct rpc_call *call);
/* Handles the end of one event. Server's thread; it may free the call. */
void call_event_done(struct rpc_call *call);

/* The events of streams, answer.c. Server's thread. */
void stream_on_begun(struct tag *tag, bool ok);
void stream_on_wrote(struct tag *tag, bool ok);
/*
 * Sends |message|, which is consumed; the message before must have been taken. Sets STREAM_WRITING.
 * Any thread may call it.
 */
void stream_send_message(struct rpc_call *call, grpc_byte_buffer *message);
/* Wakes a waiting writer, which learns that the client takes nothing any more. */
void stream_note_gone(struct rpc_call *call);

/* Asks gRPC for one more call, unless it was asked already. Server's thread. */
void call_arm(struct call_host *host);

/* --- relays ----------------------------------------------------------------------------------- */

struct rpc_pending;

/*
 * Sends the current message of |from| (rpc_pending_next()) like rpc_call_write(), with the same
 * errors; -ENODATA: there is none. |from| has no message afterwards.
 */
int rpc_relay_message(struct rpc_call *to, struct rpc_pending *from, int64_t timeout_ms);

/*
 * Ends the stream |to| with the status and text of |from|, which has ended. |to| is invalid
 * afterwards.
 */
void rpc_relay_end(struct rpc_call *to, struct rpc_pending *from);

/*
 * Answers the unary call |to| with the message, or the status and text, of |from|, which has ended.
 * |to| is invalid afterwards.
 */
void rpc_relay_reply(struct rpc_call *to, struct rpc_pending *from);

/* --- keys of metadata ------------------------------------------------------------------------- */

/* In a call to a host daemon: the program that the call is for. */
#define TARGET_KEY "proftap-target"
/* In an answer: the role of a server that is not the server of one program. */
#define ROLE_KEY "proftap-role"

/* --- limits on peers ------------------------------------------------------------------------- */

void peer_limits_deinit(struct peer_limits *c);

#endif
