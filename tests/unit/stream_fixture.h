/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Somebody who answers a call of |rpc| by a stream, from a thread of his own; and how streams are
 * read.
 */
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
	enum rpc_status status; /* and what it says then */
	const char *text; /* NULL: "" */

	/* Its results: */
	sem_t blocked; /* posted once, when a message was not taken for a moment */
	_Atomic unsigned n_written;
	int result; /* of the last write; after writer_end() */
	pthread_t thread;
};

/*
 * The row of STREAM_PATH: the writer's thread gets the call, |rpc.n_cancels| counts those given up.
 */
extern const struct rpc_method stream_method;

/* Waits for the call, when there is no writer. */
struct rpc_call *take_held(void);
void writer_begin(struct writer *w);
/* Returns when it has finished its call. */
void writer_end(struct writer *w);

struct rpc_pending *start_stream(struct rpc_channel *channel, int64_t timeout_ms);
/* Reads to the end; each message must be what the writer wrote. Returns how many there were. */
unsigned read_stream(struct rpc_pending *pending, size_t bytes);
/* Reads the message |index|, which must come. */
void read_one(struct rpc_pending *pending, unsigned index, size_t bytes);

#endif
