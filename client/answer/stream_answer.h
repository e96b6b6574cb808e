/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace that comes as a stream of proftap.v1.CaptureReply: Progress, then chunks, then a Trailer. The chunks are handed
 * on as they come; the trailer tells whether they are all there, and as they were sent. Every byte is hostile.
 */
#ifndef CLIENT_STREAM_ANSWER_H
#define CLIENT_STREAM_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rpc_pending;
struct XXH3_state_s;

/* Of one message: a chunk, and what is around it. */
#define STREAM_ANSWER_MAX_BYTES ((1 << 20) + 64)

struct stream_progress {
	uint32_t phase; /* Proftap__V1__Phase */
	uint64_t elapsed_ns; /* of the recording */
	uint64_t recorded_bytes; /* raw, so far */
	uint64_t spooled_bytes; /* of those, on disk */
	uint64_t xspace_bytes; /* of the trace to come; 0: not known yet */
};

struct stream_trailer {
	uint64_t xspace_bytes;
	uint64_t xspace_xxh3;
	bool is_empty;
	uint64_t n_events;
	uint64_t n_dropped;
	uint64_t start_unix_ns; /* of the recording, by the target's clock */
	uint64_t duration_ns;
};

struct stream_answer {
	/* Given by the caller: gets the XSpace, and at its end no bytes; 0 or a negative errno, which ends the reading. */
	int (*write)(const uint8_t *data, size_t n, void *context);
	void *context;

	/* The answers. */
	bool has_progress; /* the call was accepted */
	struct stream_progress progress; /* the last one */
	uint64_t xspace_bytes; /* handed on so far */
	bool has_trailer;
	struct stream_trailer trailer;
	const char *fault; /* after -EBADMSG: what is wrong, as "a chunk is empty" */

	/* The reader's own. */
	struct XXH3_state_s *hash;
	uint8_t *message;
};

/* |s| has |write| and |context|, and else zeros. 0 or -ENOMEM; deinit in both cases. */
int stream_answer_init(struct stream_answer *s);
void stream_answer_deinit(struct stream_answer *s);

/* Reads the message that rpc_pending_next() said is there. 0, -EBADMSG with |fault|, or what |write| returned. */
int stream_answer_take(struct stream_answer *s, struct rpc_pending *pending);
/* The same for a message as bytes. */
int stream_answer_feed(struct stream_answer *s, const uint8_t *message, size_t n);

/* The stream ended with OK. 0, or -EBADMSG with |fault|: the trace is not complete, or damaged. */
int stream_answer_end(struct stream_answer *s);

#endif
