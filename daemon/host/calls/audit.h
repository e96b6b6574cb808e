/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line for each thing that somebody had this daemon do with a program: who, what, how long, how much, and what became of it. Calls that only
 * look have one when they are refused. It is said at every log level, as words and, in the journal, as fields (host.c).
 *
 * A call has an entry from audit_begin() on; what is learnt of it meanwhile is noted, and audit_on_answer() writes it.
 *
 * Threads: one at a time has a call, and its entry.
 */
#ifndef DAEMON_AUDIT_H
#define DAEMON_AUDIT_H

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
	int is_caller_known;
	char target
		[AUDIT_TARGET_BYTES]; /* "train (4242)", several with commas; "": none was found */
	char options[AUDIT_OPTIONS_BYTES]; /* what was asked for, "duration_ms=500" */
	int64_t begun_ns; /* CLOCK_MONOTONIC */
	uint64_t n_bytes; /* of answers; of what was deleted */
	const char *result; /* "OK", or the name of a gRPC status */
	const char *reason; /* of one that is not OK; "" */
	int is_look; /* it does nothing with a program: a line is written only if it was refused */
	char refusal
		[AUDIT_REASON_BYTES]; /* why the caller gets nothing by it, though it is answered OK; "" */
};

/* Writes it; what no terminal should see becomes '?'. */
void audit_write(const struct audit *a);

/* Begins the line of |call|, whose handler begins with the request of |n| bytes; the line may say that memory ran out. */
void audit_begin(struct rpc_call *call, const uint8_t *bytes, size_t n);
/* The call asks for something that is not there, or not for this caller: its line says |why|, whatever the answer is. */
void audit_note_refusal(const struct rpc_call *call, const char *why);
/* Adds |program| to those that the line of |call| names. */
void audit_note_target(const struct rpc_call *call, const struct program *program);
/* struct rpc_server_config's. */
void audit_on_answer(
	struct rpc_call *call, enum rpc_status status, const char *text, void *context);

/* Adds |program| to a line that is not about a call. */
void audit_add_target(struct audit *a, const struct program *program);

#endif
