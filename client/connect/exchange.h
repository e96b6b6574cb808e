/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call on a connection whose answer is small, waited for to its end: interrupts, a peer that never speaks, and the
 * reason when it fails. Servers differ in what they know: who asks for one method after the other looks at
 * exchange_is_unknown().
 */
#ifndef CLIENT_EXCHANGE_H
#define CLIENT_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <protobuf-c/protobuf-c.h>

struct address;
struct diag;
struct link;
struct rpc_pending;

/* The largest answer, unless the caller says. */
#define EXCHANGE_MAX_BYTES 65536

struct exchange {
	/* Given by the caller, borrowed. */
	const struct address *address;
	const struct link *link;
	const char *path; /* of the method */
	const uint8_t *message; /* NULL: one without fields */
	size_t message_bytes;
	int64_t timeout_ms;
	size_t max_bytes; /* 0: EXCHANGE_MAX_BYTES */
	bool is_of_session; /* the call is about a continuous session, or the flight recorder */
	bool is_of_recorder; /* about that alone */
	bool is_owed; /* its limit alone ends it: interrupts do not */
	bool is_of_programs; /* about all that a host daemon knows */

	/* Results. */
	struct rpc_pending *pending;
	int64_t started_ms; /* CLOCK_MONOTONIC */
	int64_t ended_ms;
	bool is_silent; /* given up: the peer accepted the connection and never spoke */
	bool is_given_up; /* interrupted */
};

/*
 * The whole call, which an interrupt ends unless it is owed. EXIT_DONE: it was answered; else an enum exit_code with |d|. Deinit in every
 * case, also before the next run of the same.
 */
int exchange_run(struct exchange *e, struct diag *d);
void exchange_deinit(struct exchange *e);

/* After a failure: the server has no such method. */
bool exchange_is_unknown(const struct exchange *e);

/* After a Monitor: a profiler server of JAX's or TensorFlow's make, which has that method and does nothing in it. */
bool exchange_is_stock(const struct exchange *e);

/* After a failure of another method: whether it is such a server, which is asked for Monitor now. */
bool exchange_find_stock(const struct exchange *failed);

/* After EXIT_DONE: the answer; the caller frees *out. 0, -ENOMEM, -EMSGSIZE. */
int exchange_read(const struct exchange *e, uint8_t **out, size_t *n_out);

/*
 * Unpacks the answer as a message of that type, which the caller frees
 * (protobuf_c_message_free_unpacked()). NULL with |d| if it is not such a message, or memory ran
 * out.
 */
ProtobufCMessage *exchange_unpack(
	const struct exchange *e, const ProtobufCMessageDescriptor *type, struct diag *d);

#endif
