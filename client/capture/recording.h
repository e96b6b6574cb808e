/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One recording from connect to answer: the call, Capture of proftap.v1, or Profile where the server does not
 * know that; the early end by Ctrl-C, a peer that never speaks, and the reason when it fails. It never waits
 * longer than it is told to, so that one thread can drive many of them.
 */
#ifndef CLIENT_RECORDING_H
#define CLIENT_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/answer/stream_answer.h"
#include "client/connect/link.h"

struct address;
struct diag;
struct progress;
struct rpc_pending;

/* What is asked for: a method of proftap.v1, whose answer is a stream, and those of other servers, in one message. */
struct recording_calls {
	const char *stream; /* NULL: there is none */
	const char *unary[2]; /* the second in older servers; NULL: there is none */
	bool is_of_session; /* of one that runs without us, which an interrupt here does not end */
	bool is_of_recorder; /* of the flight recorder, and no other */
};

struct recording_request {
	struct address *address; /* made more exact by connecting */
	const struct recording_calls *calls; /* NULL: Capture, or Profile */
	const uint8_t *capture; /* an encoded CaptureRequest, or whatever calls->stream takes */
	size_t capture_bytes;
	const uint8_t *profile; /* the same as a ProfileRequest, or for calls->unary */
	size_t profile_bytes;
	/* Gets the XSpace of a stream as it comes; see stream_answer.h. */
	int (*write)(const uint8_t *data, size_t n, void *context);
	void *context;
	const char *session_id;
	uint64_t last_ms; /* of the flight recorder, no more than these; 0: all there is */
	int64_t delay_ms; /* until the recording starts */
	int64_t duration_ms;
	int64_t timeout_ms; /* of the whole call; with |silence_ms| of one whose bytes do not move */
	int64_t silence_ms; /* 0, or: bytes of the answer make the limit so much later than they came */
	bool is_waited_for; /* by whom it is told that the target is busy */
};

struct recording {
	struct link link;
	struct rpc_pending *call;
	struct rpc_pending *stop; /* after the first interrupt */
	bool is_stream; /* the call is a Capture, not a Profile */
	unsigned int n_unary; /* of calls->unary that were tried */
	struct stream_answer stream; /* its answer */
	int stream_error; /* negative errno: what ended the reading of that, or what is wrong with all of it */
	int64_t started_ms; /* CLOCK_MONOTONIC */
	int64_t sent_unix_ns; /* of a call that is no stream: when it was sent, */
	int64_t answered_unix_ns; /* and when its answer was there; 0: not yet */
	int64_t limit_ms; /* since then: when it is given up, as far as is known now */
	uint64_t moved_bytes; /* of the answer, when it was looked at last */
	int64_t stopped_ms; /* when the user ended it early; 0: never */
	int64_t ended_ms; /* when the answer was complete */
	bool is_silent; /* given up: the peer accepted the connection and never spoke */
	bool is_late; /* given up: the limit has passed, and no bytes moved in the time before it */
	bool is_given_up; /* interrupted twice */
};

#define RECORDING_INIT            \
	{                         \
		.link = LINK_INIT \
	}

/* The request needs the exact address, so this comes first. An enum exit_code. */
int recording_connect(struct recording *r, struct address *address, struct diag *d);

/* Sends the request. EXIT_DONE, or EXIT_FAILED with |d|. */
int recording_start(struct recording *r, const struct recording_request *request, struct diag *d);

/*
 * Looks after it, and waits up to |wait_ms| for its end. Returns true when it has ended: then it is time for
 * recording_finish().
 */
bool recording_poll(struct recording *r, const struct recording_request *request, int64_t wait_ms);

/*
 * EXIT_DONE: r->call holds a reply to read, or r->stream has read it all; else the exit code, with |d| saying why, where
 * q->write has not said it. What came of a stream may be worth keeping then.
 */
int recording_finish(struct recording *r, const struct recording_request *request, struct diag *d);

/* After a failure: something of a trace came, and that it is not all has no reason of ours. */
bool recording_is_partial(const struct recording *r);

/* Whether the server answered the call with OK: what it held is no longer there. */
bool recording_is_answered(const struct recording *r);

/* Of the trace, or of the answer that holds it. */
uint64_t recording_get_received_bytes(const struct recording *r);

/* Adds the bytes that are known of: recorded, received, announced. */
void recording_add_progress(const struct recording *r, struct progress *progress);

/* How long it recorded: as planned, or until the user ended it. */
int64_t recording_get_duration_ms(const struct recording *r, const struct recording_request *q);

/*
 * The time from the end of the recording, which was |duration_ms| long, to the end of the answer.
 */
int64_t recording_get_transfer_ms(
	const struct recording *r, const struct recording_request *q, int64_t duration_ms);

void recording_deinit(struct recording *r);

#endif
