/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a trace that comes as a stream of proftap.v1.CaptureReply: Progress, then chunks, then a
 * Trailer. The chunks are passed on as they come; the trailer's size and checksum are compared at
 * the end. No byte is trusted.
 */
#ifndef CLIENT_STREAM_ANSWER_H
#define CLIENT_STREAM_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rpc_pending;
struct XXH3_state_s;

/* The limit of a message: a chunk, and the bytes around it. */
#define STREAM_ANSWER_MAX_BYTES ((1 << 20) + 64)

struct stream_progress {
	uint32_t phase; /* Proftap__V1__Phase */
	uint64_t elapsed_ns; /* of the recording */
	uint64_t recorded_bytes; /* raw bytes so far */
	uint64_t spooled_bytes; /* the part of |recorded_bytes| that is on disk */
	uint64_t xspace_bytes; /* the size of the trace to come; 0: not known yet */
};

struct stream_trailer {
	uint64_t xspace_bytes;
	uint64_t xspace_xxh3;
	bool is_empty;
	uint64_t n_events;
	uint64_t n_dropped;
	uint64_t start_unix_ns; /* the start of the recording by the target's clock */
	uint64_t duration_ns;
};

struct stream_answer {
	/*
	 * Given by the caller; gets the XSpace piece by piece, and at last a call with |n| = 0.
	 * Returns 0, or a negative errno, which ends the reading.
	 */
	int (*write)(const uint8_t *data, size_t n, void *context);
	void *context;

	/* Results. */
	bool has_progress; /* the call was accepted */
	struct stream_progress progress; /* the last one that came */
	uint64_t xspace_bytes; /* given to |write| so far */
	bool has_trailer;
	struct stream_trailer trailer;
	const char *fault; /* after -EBADMSG: the reason, such as "a chunk is empty" */

	/* The reader's state. */
	struct XXH3_state_s *hash;
	uint8_t *message;
};

/*
 * |s| has |write| and |context|, and zeros otherwise. 0 or -ENOMEM; call stream_answer_deinit() in
 * either case.
 */
int stream_answer_init(struct stream_answer *s);
void stream_answer_deinit(struct stream_answer *s);

/*
 * Reads the message that rpc_pending_next() announced. 0, -EBADMSG with |fault|, or the error of
 * |write|.
 */
int stream_answer_take(struct stream_answer *s, struct rpc_pending *pending);
/* The same for a message in memory. */
int stream_answer_feed(struct stream_answer *s, const uint8_t *message, size_t n);

/*
 * Call it when the stream ended with OK. 0, or -EBADMSG with |fault|: the trace is incomplete or
 * damaged.
 */
int stream_answer_end(struct stream_answer *s);

#endif
