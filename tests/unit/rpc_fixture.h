/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Server and client of rpc/ on a socket pair. gRPC runs in the test's own process, because the
 * check library forks before the fixture is opened.
 */
#ifndef TESTS_UNIT_RPC_FIXTURE_H
#define TESTS_UNIT_RPC_FIXTURE_H

#include <semaphore.h>
#include <stddef.h>
#include <stdint.h>

#include "rpc/client.h"
#include "rpc/server.h"

#define PATIENCE_MS 20000 /* a test fails after this time; none normally waits so long */
#define SMALL_BYTES 16

struct rpc_fixture {
	struct rpc_server *server;
	struct rpc_channel *channel;
	struct rpc_call *held; /* a call that is not answered yet */
	int64_t deadline_ns; /* of the held call */
	sem_t arrived; /* posted when |held| is set */
	sem_t cancelled; /* posted by a test's on_cancel */
	int n_cancels;
	char unknown[64];
};

extern struct rpc_fixture rpc;

/* Opens a server with these methods, whose context is |&rpc|, and a channel to it. */
void rpc_fixture_open(const struct rpc_method *methods, size_t n_methods);
void rpc_fixture_close(void);
/* Opens another channel to the server. */
struct rpc_channel *connect_channel(void);

/* Handlers: one replies with the request, the other keeps the call in |rpc.held|. */
void handle_echo(struct rpc_call *call, const uint8_t *request, size_t n, void *context);
void handle_hold(struct rpc_call *call, const uint8_t *request, size_t n, void *context);
/* Answers the held call. */
void reply_held(const char *text);

void wait_for(sem_t *semaphore);

struct rpc_pending *start_call(const char *path, const void *message, size_t n, int64_t timeout_ms);
/* Returns when the call has ended. */
struct rpc_pending *make_call(const char *path, const void *message, size_t n);
/* Waits for the end of |pending|, which must have |status| and a text that contains |words|. */
void expect_end(struct rpc_pending *pending, int status, const char *words);
/* Waits for the end of |pending|, which must be OK with these bytes. */
void expect_reply(struct rpc_pending *pending, const void *data, size_t n);

#endif
