/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One gRPC call with a small answer. It waits for the end of the call, handles interrupts and a
 * peer that never speaks, and explains a failure. A caller that tries one method after the other,
 * because servers differ, checks exchange_is_unknown(). The names of the methods are below.
 */
#ifndef CLIENT_EXCHANGE_H
#define CLIENT_EXCHANGE_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address;
struct diag;
struct link;
struct rpc_pending;

/* The size limit of the answer, unless the caller sets another. */
#define EXCHANGE_MAX_BYTES 65536

struct exchange {
	/* Given by the caller, borrowed. */
	const struct address *address;
	const struct link *link;
	const char *path; /* the path of the method */
	const uint8_t *message; /* NULL: an empty message */
	size_t message_bytes;
	int64_t timeout_ms;
	size_t max_bytes; /* 0: EXCHANGE_MAX_BYTES */
	bool is_of_session; /* the call is about a continuous session or the flight recorder */
	bool is_of_recorder; /* the call is about the flight recorder alone */
	bool is_uninterruptible; /* only the timeout ends the call, interrupts do not */
	bool is_of_programs; /* the call is about all programs of a host daemon */

	/* Set by exchange_run(). */
	struct rpc_pending *pending;
	int64_t started_ms; /* CLOCK_MONOTONIC */
	int64_t ended_ms;
	/* The call was cancelled because the peer accepted the connection and never spoke. */
	bool is_silent;
	bool is_given_up; /* the call was interrupted */
};

/*
 * Makes the call. EXIT_DONE: the server answered; else an enum exit_code with |d|. Call
 * exchange_deinit() in either case, also before running it again.
 */
int exchange_run(struct exchange *e, struct diag *d);
void exchange_deinit(struct exchange *e);

/* After a failure: whether the server has no such method. */
bool exchange_is_unknown(const struct exchange *e);

/*
 * After a call of Monitor: whether the server is of JAX's or TensorFlow's make, where that method
 * does nothing.
 */
bool exchange_is_stock(const struct exchange *e);

/*
 * After a failure of another method: calls Monitor to find out whether the server is of JAX's or
 * TensorFlow's make.
 */
bool exchange_find_stock(const struct exchange *failed);

/* After EXIT_DONE: copies the answer to *out, which the caller frees. 0, -ENOMEM, -EMSGSIZE. */
int exchange_read(const struct exchange *e, uint8_t **out, size_t *n_out);

/*
 * Unpacks the answer as a message of |type|, which the caller frees with
 * protobuf_c_message_free_unpacked(). NULL with |d| if it is no such message, or memory ran out.
 */
ProtobufCMessage *exchange_unpack(
	const struct exchange *e, const ProtobufCMessageDescriptor *type, struct diag *d);

/* --- methods ---------------------------------------------------------------------------------- */

#define METHOD_V1 "/proftap.v1.Profiler/"
#define METHOD_STOCK "/tensorflow.ProfilerService/"

#define CAPTURE_PATH METHOD_V1 "Capture"
#define START_PATH METHOD_V1 "Start"
#define SNAPSHOT_PATH METHOD_V1 "Snapshot"
#define STOP_PATH METHOD_V1 "Stop"
#define STATUS_PATH METHOD_V1 "Status"
#define OPEN_SPANS_PATH METHOD_V1 "OpenSpans"
#define LIST_PATH METHOD_V1 "List"

#define PROFILE_PATH METHOD_STOCK "Profile"
#define TERMINATE_PATH METHOD_STOCK "Terminate"
#define MONITOR_PATH METHOD_STOCK "Monitor"

#endif
