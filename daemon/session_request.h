/* SPDX-License-Identifier: Apache-2.0 */
/* What a Profile call, or the program itself, asks for. Owned by the session while it runs. */
#ifndef DAEMON_SESSION_REQUEST_H
#define DAEMON_SESSION_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/profile_options.h"

/* A request can have very many things wrong. */
#define SESSION_MAX_WARNINGS 32

struct local_trace;
struct rpc_call;

struct session_request {
	struct rpc_call *call; /* NULL: |trace| gets the answer */
	struct local_trace *trace; /* owned */
	struct profile_options options;
	char *session_id; /* malloc'ed, for Terminate; NULL: cannot be named */
	int emit_xspace;
	uint8_t *options_bytes; /* malloc'ed: the serialised options, echoed into the trace */
	size_t n_options_bytes;
	char *warnings[SESSION_MAX_WARNINGS]; /* malloc'ed texts */
	size_t n_warnings;
	int64_t taken_ns; /* CLOCK_MONOTONIC, set by session_take() */
};

void session_request_deinit(struct session_request *request);
/* A text that goes into the trace; one that is too many is left out, and that is said. 0 or -ENOMEM. */
int session_request_warn(struct session_request *request, const char *text);

#endif
