/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit has a line for each action of this daemon on a program: the caller, the action, its
 * duration, its bytes and its result. Calls that only read have a line when they are refused. The
 * lines are written at every log level, as words and, in the journal, as fields (host.c).
 *
 * A call has an entry from audit_begin() on. Handlers add to it, and audit_on_answer() writes it.
 *
 * Threads: only one thread at a time uses a call and its entry.
 */
#ifndef DAEMON_AUDIT_H
#define DAEMON_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/host/programs/caller.h"
#include "rpc/server.h"

struct program;

#define AUDIT_TARGET_BYTES 256
#define AUDIT_OPTIONS_BYTES 512
#define AUDIT_REASON_BYTES 512

struct audit {
	const char *what; /* "Capture"; static */
	struct caller caller;
	bool is_caller_known;
	/* "train (4242)", several separated by commas; "": none was found. */
	char target[AUDIT_TARGET_BYTES];
	char options[AUDIT_OPTIONS_BYTES]; /* of the request: "duration_ms=500" */
	int64_t begun_ns; /* CLOCK_MONOTONIC */
	uint64_t n_bytes; /* of the answer, or of the deleted files */
	const char *result; /* "OK", or the name of a gRPC status */
	const char *reason; /* of a result that is not OK; "": none */
	bool is_read_only; /* the call only reads: the line is written only if it was refused */
	/* Reason for the refusal of a call that is answered OK; "": none. */
	char refusal[AUDIT_REASON_BYTES];
};

/* Writes the line. Control characters become '?'. */
void audit_write(const struct audit *a);

/*
 * Begins the line of |call| with a request of |n| bytes. If memory runs out, the log says so
 * instead.
 */
void audit_begin(struct rpc_call *call, const uint8_t *bytes, size_t n);
/*
 * Notes that the call asks for something that does not exist or that this caller may not see. If
 * the call is answered OK, its line gets |why| as the reason.
 */
void audit_note_refusal(const struct rpc_call *call, const char *why);
/* Adds |program| to those that the line of |call| names. */
void audit_note_target(const struct rpc_call *call, const struct program *program);
/* The callback of struct rpc_server_config: writes the line of an answered call. */
void audit_on_answer(
	struct rpc_call *call, enum rpc_status status, const char *text, void *context);

/* Adds |program| to a line that is not about a call. */
void audit_add_target(struct audit *a, const struct program *program);

#endif
