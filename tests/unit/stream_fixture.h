/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that answers a call of |rpc| with a stream, and functions that read streams. */
#ifndef TESTS_UNIT_STREAM_FIXTURE_H
#define TESTS_UNIT_STREAM_FIXTURE_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "rpc/client.h"
#include "rpc/server.h"

#define STREAM_PATH "/t.Test/Stream"
#define MESSAGE_BYTES (1u << 20)

struct writer {
	/* The reaction to the next call that arrives at STREAM_PATH: */
	unsigned n_messages;
	size_t bytes; /* of each */
	int64_t timeout_ms; /* of each write; 0: PATIENCE_MS */
	enum rpc_status status; /* the final status and its text */
	const char *text; /* NULL: "" */

	/* Its results: */
	sem_t blocked; /* posted once, when a message was not taken at once */
	_Atomic unsigned n_written;
	int result; /* of the last write; valid after writer_end() */
	pthread_t thread;
};

/*
 * The row of STREAM_PATH: the writer's thread gets the call, and |rpc.n_cancels| counts cancelled
 * ones.
 */
extern const struct rpc_method stream_method;

/* Waits for the call; for tests without a writer. */
struct rpc_call *take_held(void);
void writer_begin(struct writer *w);
/* Returns when the writer has finished its call. */
void writer_end(struct writer *w);

struct rpc_pending *start_stream(struct rpc_channel *channel, int64_t timeout_ms);
/* Reads to the end and checks each message against the writer's. Returns their number. */
unsigned read_stream(struct rpc_pending *pending, size_t bytes);
/* Reads the message |index|, which must come. */
void read_one(struct rpc_pending *pending, unsigned index, size_t bytes);

#endif
