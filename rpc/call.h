/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call on the server, from the moment gRPC is asked for it to the last event about it.
 *
 * A call has four events, each with a tag of its own: it arrived; its request is read; it is closed
 * (answered or given up); the answer is sent. Every call is answered exactly once, also one that
 * was given up long ago: gRPC drops such an answer, but its event still comes, and so the server's
 * thread is always the one that frees a call and the one that sees the last call go.
 */
#ifndef RPC_CALL_H
#define RPC_CALL_H

#include <stdbool.h>
#include <stddef.h>

#include <grpc/grpc.h>

#include "rpc/conduct.h"

struct rpc_call;
struct rpc_server_config;

/* What the completion queue gives back: whom to tell. |ok| is gRPC's. */
struct tag {
	void (*done)(struct tag *tag, bool ok);
};

/* What calls know of their server. */
struct call_host {
	const struct rpc_server_config *config;
	grpc_server *server;
	grpc_completion_queue *queue;
	struct rpc_call *armed; /* waits for the next arrival; server's thread */
	_Atomic size_t n_live; /* arrived, not yet freed; written by the server's thread */
	struct conduct conduct; /* of the peers; server's thread */
	bool closed; /* gRPC hands out no more calls; server's thread */
};

/* Asks gRPC for one more call, unless that was done already. Server's thread. */
void call_arm(struct call_host *host);

#endif
