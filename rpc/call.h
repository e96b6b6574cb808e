/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call on the server, from the moment gRPC is asked for it to the last event about it: what unary ones (unary.c)
 * and streams (stream.c) have in common.
 *
 * A call has four events, each with a tag of its own: it arrived; its request is read; it is closed
 * (answered or given up); the answer is sent. A stream has more: its head is sent, a message is. Every
 * call is answered exactly once, also one that was given up long ago: gRPC drops such an answer, but
 * its event still comes, and so the server's thread is always the one that frees a call and the one
 * that sees the last call go.
 */
#ifndef RPC_CALL_H
#define RPC_CALL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <grpc/grpc.h>

#include "rpc/conduct.h"
#include "rpc/server.h"

/* What the completion queue gives back: whom to tell. |ok| is gRPC's. */
struct tag {
	void (*done)(struct tag *tag, bool ok);
};

/* What calls know of their server. */
struct call_host {
	const struct rpc_server_config *config;
	grpc_metadata role; /* of config->role, if there is one; in every head */
	grpc_server *server;
	grpc_completion_queue *queue;
	struct rpc_call *armed; /* waits for the next arrival; server's thread */
	_Atomic size_t n_live; /* arrived, not yet freed; written by the server's thread */
	_Atomic size_t n_asked; /* of those: the client has the word, and is owed nothing */
	struct conduct conduct; /* of the peers; server's thread */
	bool closed; /* gRPC hands out no more calls; server's thread */
};

/* What rpc_call.stream says; changed by the writer and by the server's thread. */
enum {
	STREAM_WRITING = 1, /* a message is with gRPC */
	STREAM_GONE = 2, /* nobody takes anything any more */
	STREAM_FINISHING = 4, /* the writer is done; the status waits for the message */
};

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
	void *note; /* the handler's */
	uint64_t n_bytes; /* of messages; the writer's */
	bool is_closed; /* server's thread */
	bool is_begun; /* its head is sent; the writer's, and after STREAM_FINISHING the server's thread's */
	_Atomic uint32_t stream; /* STREAM_; a futex */
	enum rpc_status status; /* of a stream that is finishing */
	char *text; /* malloc'ed, of |status|; NULL: "" */
	atomic_uint n_events_due; /* freed at 0, by the server's thread */
	struct tag arrived;
	struct tag received;
	struct tag closed;
	struct tag sent;
	struct tag begun;
	struct tag wrote;
};

#define call_of(tag, member) ((struct rpc_call *)((char *)(tag)-offsetof(struct rpc_call, member)))

/* What an answer begins with. */
grpc_op call_make_head(const struct call_host *host);
/* Starts a batch whose event, |tag|, is counted already. */
void call_start_batch(struct rpc_call *call, const grpc_op *ops, size_t n, struct tag *tag);
/*
 * Starts the call's last batch; |message| may be NULL, and is consumed. After this the server's thread may free the
 * call at any moment.
 */
void call_send_answer(
	struct rpc_call *call, grpc_byte_buffer *message, enum rpc_status status, const char *text);
/* To be said before the answer is sent, since the call may be gone afterwards: |status| is what it will be. */
void call_note_answer(struct rpc_call *call, enum rpc_status status, const char *text);
/* Asks for the client's next message. Server's thread. */
void call_receive(struct rpc_call *call);
/* An event has been handled. Server's thread; it may free the call. */
void call_event_done(struct rpc_call *call);

/* The events of streams, stream.c. Server's thread. */
void stream_on_begun(struct tag *tag, bool ok);
void stream_on_wrote(struct tag *tag, bool ok);
/* Sends |message|, consumed; the one before was taken. From here on it is STREAM_WRITING. Any thread. */
void stream_send_message(struct rpc_call *call, grpc_byte_buffer *message);
/* Nobody takes anything any more: a writer that waits learns of it. */
void stream_note_gone(struct rpc_call *call);

/* Asks gRPC for one more call, unless that was done already. Server's thread. */
void call_arm(struct call_host *host);

#endif
