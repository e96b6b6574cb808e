/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call's or the program's own request to the session: the request for the recording, and who gets
 * the outcome and in which form. The session owns it while it waits and runs.
 */
#ifndef DAEMON_SESSION_REQUEST_H
#define DAEMON_SESSION_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/pipeline/recording/capture_request.h"

struct capture_result;
struct diag;
struct local_trace;
struct progress;
struct rpc_call;
struct run_dir;
struct session;

/* Requests to the flight recorder. */
enum recorder_ask {
	RECORDER_NOTHING,
	RECORDER_START,
	RECORDER_SNAPSHOT,
	RECORDER_STOP,
};

struct session_request {
	struct session_request *next; /* the session's */
	/*
	 * Hands the outcome to the asker: |r| and |result| (all zero unless |r| is 0; its contents
	 * are taken) are those of capture_run(), |d| a text where capture.h says so. Called exactly
	 * once unless session_take() refused the request, on any thread; the session is free by
	 * then, or still another's. The request is the session's to free.
	 */
	void (*deliver)(struct session_request *request, int r, struct capture_result *result,
		struct diag *d);
	void *context; /* of |deliver| */
	struct progress
		*progress; /* NULL, or where the recording says how far it is, until |deliver| */
	/*
	 * Called on the worker's thread when a continuous session records; |deliver| is not called
	 * then.
	 */
	void (*begin)(struct session_request *request, struct rpc_call *call);
	struct rpc_call *call; /* who asks: session_cancel() goes by it; NULL: the program itself */
	struct local_trace *trace; /* owned; NULL unless the program itself asks */
	struct capture_request capture; /* the recording reads it as it is */
	char *session_id; /* malloc'ed, for Terminate; NULL: cannot be named */
	int emit_xspace;
	char *repository_root; /* malloc'ed, a client's words; NULL: none */
	char *host_name; /* the same: of the file there */
	struct run_dir *run; /* owned (malloc'ed): where the file goes; NULL: into the answer */
	enum recorder_ask recorder_ask; /* session_recorder.h's */
	int discards; /* of session_stop(): the data is not wanted */
	uint64_t last_ms; /* of session_recorder_snapshot(): no more than that; 0: all there is */
	int keeps; /* the same, after the program's death: for those who come later, too */
	struct session
		*inherits; /* the same: is told when it was taken; NULL: nobody is. The worker's */
	int yields; /* its recording ends early when somebody else asks for one */
	int64_t taken_ns; /* CLOCK_MONOTONIC, when it became the session's */
	int64_t due_ns; /* CLOCK_MONOTONIC, when it is to be armed; the session's, as the next one is */
	int is_looked_for; /* whether the program uses a device; see arming.h */
};

void session_request_deinit(struct session_request *request);
struct session_request *session_request_free(
	struct session_request *request); /* NULL ok; returns NULL */
/*
 * The warning for a capture that asked for the machine's usage, but did not come through a host
 * daemon.
 */
#define SESSION_REQUEST_NO_MACHINE_USAGE                                                            \
	"ptap_machine_usage: without effect: a host daemon (proftapd --host) records the machine, " \
	"and this capture did not come through one"
/* Whose session it is since when, e.g. "session a: 60.0 s, begun 2.1 s ago". */
void session_request_describe(const struct session_request *request, char *text, size_t n);

#endif
