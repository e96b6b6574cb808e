/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One Profile call from connect to answer: the early end by Ctrl-C, a peer that never speaks, and the reason
 * when it fails. It never waits longer than it is told to, so that one thread can drive many of them.
 */
#ifndef CLIENT_RECORDING_H
#define CLIENT_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address;
struct diag;
struct rpc_channel;
struct rpc_pending;

struct recording_request {
	struct address *address; /* made more exact by connecting */
	const uint8_t *message; /* an encoded ProfileRequest */
	size_t message_bytes;
	const char *session_id;
	int64_t delay_ms; /* until the recording starts */
	int64_t duration_ms;
	int64_t timeout_ms; /* of the whole call */
};

struct recording {
	struct rpc_channel *channel;
	struct rpc_pending *profile;
	struct rpc_pending *terminate; /* after the first interrupt */
	int watch_fd; /* a second descriptor of the connection: has the peer spoken? */
	int64_t started_ms; /* CLOCK_MONOTONIC */
	int64_t stopped_ms; /* when the user ended it early; 0: never */
	int64_t ended_ms; /* when the answer was complete */
	bool is_silent; /* given up: the peer accepted the connection and never spoke */
	bool is_given_up; /* interrupted twice */
};

#define RECORDING_INIT         \
	{                      \
		.watch_fd = -1 \
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

/* EXIT_DONE: r->profile holds a reply to read; else the exit code, with |d| saying why. */
int recording_finish(struct recording *r, const struct recording_request *request, struct diag *d);

/* Bytes that came so far; 0 when it cannot be known. */
int64_t recording_get_received_bytes(const struct recording *r);

/* How long it recorded: as planned, or until the user ended it. */
int64_t recording_get_duration_ms(const struct recording *r, const struct recording_request *q);

/* From the end of the recording, as planned or asked for, to the end of the answer. */
int64_t recording_get_transfer_ms(const struct recording *r, const struct recording_request *q);

void recording_deinit(struct recording *r);

#endif
