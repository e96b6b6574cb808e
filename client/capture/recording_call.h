/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One recording from the connection to the answer. It calls Capture of proftap.v1, or Profile if
 * the server does not have that, handles the early end by Ctrl-C and a peer that never speaks,
 * and explains failures. It never waits longer than the caller asks for, so that one thread can
 * drive many recordings.
 */
#ifndef CLIENT_RECORDING_CALL_H
#define CLIENT_RECORDING_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/answer/stream_answer.h"
#include "client/connect/link.h"

struct address;
struct diag;
struct progress_line;
struct rpc_pending;

/*
 * The methods to call: one of proftap.v1, which answers with a stream, and those of other servers,
 * which send one message.
 */
struct recording_methods {
	const char *stream; /* may be NULL */
	const char *unary[2]; /* the second is for older servers; may be NULL */
	bool is_of_session; /* the session runs without us, and an interrupt here does not end it */
	bool is_of_recorder; /* the call is about the flight recorder alone */
};

struct recording_request {
	struct address *address; /* link_open() replaces names in it */
	const struct recording_methods *calls; /* NULL: Capture, or else Profile */
	const uint8_t
		*capture; /* an encoded CaptureRequest, or another request for calls->stream */
	size_t capture_bytes;
	const uint8_t *profile; /* an encoded ProfileRequest, or another request for calls->unary */
	size_t profile_bytes;
	/* Gets the XSpace of a stream piece by piece; see stream_answer.h. */
	int (*write)(const uint8_t *data, size_t n, void *context);
	void *context;
	const char *session_id;
	uint64_t last_ms; /* the newest milliseconds of the flight recorder; 0: all data */
	int64_t delay_ms; /* the time until the recording starts */
	int64_t duration_ms;
	/* The time limit of the call; with |silence_ms|, arriving bytes extend it. */
	int64_t timeout_ms;
	/* Arriving bytes extend the limit to this time after them; 0: they do not. */
	int64_t silence_ms;
	bool is_waited_for; /* the user gave --wait */
};

struct recording_call {
	struct link link;
	struct rpc_pending *call;
	struct rpc_pending *stop; /* the call that ends the recording after the first interrupt */
	bool is_stream; /* the call is calls->stream, not one of calls->unary */
	unsigned int n_unary; /* the number of calls->unary that were tried */
	struct stream_answer stream; /* the answer of calls->stream */
	int stream_error; /* a negative errno: reading |stream| failed, or it is damaged */
	int64_t started_ms; /* CLOCK_MONOTONIC */
	int64_t sent_unix_ns; /* the time when a call that is no stream was sent */
	int64_t answered_unix_ns; /* the time when its answer was complete; 0: not yet */
	int64_t limit_ms; /* the present limit, from |started_ms| on */
	uint64_t moved_bytes; /* the bytes of the answer at the last check */
	int64_t stopped_ms; /* the time when the user ended the recording early; 0: never */
	int64_t ended_ms; /* the time when the answer was complete */
	bool is_silent; /* cancelled because the peer accepted the connection and never spoke */
	bool is_late; /* cancelled because the limit has passed without new bytes */
	bool is_given_up; /* cancelled because the user interrupted twice */
};

#define RECORDING_CALL_INIT       \
	{                         \
		.link = LINK_INIT \
	}

/*
 * Connects. Call it first, because the request needs the exact address. Returns an enum exit_code.
 */
int recording_call_connect(struct recording_call *r, struct address *address, struct diag *d);

/* Sends the request. EXIT_DONE, or EXIT_FAILED with |d|. */
int recording_call_start(
	struct recording_call *r, const struct recording_request *request, struct diag *d);

/*
 * Waits up to |wait_ms| for the end, and handles interrupts and limits. Returns true when the
 * recording has ended; call recording_call_finish() then.
 */
bool recording_call_poll(
	struct recording_call *r, const struct recording_request *request, int64_t wait_ms);

/*
 * EXIT_DONE: r->call has a reply to read, or r->stream has read all of the trace; else the exit
 * code, with |d|, which request->write may have set. After a failure, the part of a stream that
 * came may be worth keeping.
 */
int recording_call_finish(
	struct recording_call *r, const struct recording_request *request, struct diag *d);

/*
 * After a failure: whether a part of a trace came, and the reason for the missing part is not on
 * our side.
 */
bool recording_call_is_partial(const struct recording_call *r);

/* Returns true if the server answered the call with OK, so that it no longer has the data. */
bool recording_call_is_answered(const struct recording_call *r);

/* Returns the number of received bytes of the trace, or of the answer that contains it. */
uint64_t recording_call_get_received_bytes(const struct recording_call *r);

/* Adds the recorded, received and announced bytes, as far as they are known. */
void recording_call_add_progress(const struct recording_call *r, struct progress_line *progress);

/* Returns the duration of the recording: as planned, or until the user ended it. */
int64_t recording_call_get_duration_ms(
	const struct recording_call *r, const struct recording_request *q);

/*
 * Returns the time from the end of the recording, which was |duration_ms| long, to the end of the
 * answer.
 */
int64_t recording_call_get_transfer_ms(
	const struct recording_call *r, const struct recording_request *q, int64_t duration_ms);

void recording_call_deinit(struct recording_call *r);

#endif
