/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request of a call, or of the program itself, to the session: the request for the recording, and
 * the receiver and form of its outcome. The session owns it while it waits and runs.
 */
#ifndef DAEMON_SESSION_REQUEST_H
#define DAEMON_SESSION_REQUEST_H

#include <stdbool.h>
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

/* The action that a request to the flight recorder asks for. */
enum recorder_action {
	RECORDER_NOTHING,
	RECORDER_START,
	RECORDER_SNAPSHOT,
	RECORDER_STOP,
};

struct session_request {
	struct session_request *next; /* in a list of the session's */
	/*
	 * Delivers the outcome: |r| and |result| (all zero unless |r| is 0; its contents are taken)
	 * are those of capture_run(), and |d| is a text as explained in capture.h. Called exactly
	 * once unless session_take() refused the request, on any thread. The session is free by
	 * then, or runs another request. The session frees the request afterwards.
	 */
	void (*deliver)(struct session_request *request, int r, struct capture_result *result,
		struct diag *d);
	void *context; /* of |deliver| */
	struct progress *progress; /* the recording updates it until |deliver|; NULL: none */
	/*
	 * Called on the worker's thread when a continuous session or the flight recorder records,
	 * instead of |deliver|.
	 */
	void (*begin)(struct session_request *request, struct rpc_call *call);
	struct rpc_call *call; /* the call, for session_cancel(); NULL: the program itself asks */
	struct local_trace *trace; /* owned; NULL unless the program itself asks */
	struct capture_request capture; /* the request for the recording, for capture_run() */
	char *session_id; /* malloc'ed, for Terminate; NULL: no name */
	bool emit_xspace; /* the answer has the trace itself */
	char *repository_root; /* malloc'ed, as the client wrote it; NULL: none */
	char *host_name; /* malloc'ed: the host in the file's name, as the client wrote it */
	struct run_dir *run; /* owned (malloc'ed): the place of the file; NULL: no file */
	enum recorder_action recorder_action; /* of session_recorder.h */
	bool discards; /* of session_stop(): the data is not wanted */
	uint64_t last_ms; /* of session_recorder_snapshot(): the limit of the data; 0: all of it */
	bool keeps; /* likewise: a dead program's data stays held for other clients */
	/* The session to notify when a dead program's data was taken; NULL: none. Worker only. */
	struct session *inherits;
	bool yields; /* its recording ends early when somebody else asks for one */
	int64_t taken_ns; /* CLOCK_MONOTONIC, when it became the session's */
	int64_t due_ns; /* CLOCK_MONOTONIC, when it must be armed; the session sets it */
	/* the worker has checked for device use (arming.h), and sets this under the mutex */
	bool is_checked;
};

void session_request_deinit(struct session_request *request);
/* NULL ok; returns NULL. */
struct session_request *session_request_free(struct session_request *request);
/*
 * The warning for a capture that asked for the machine's usage, but did not come through a host
 * daemon.
 */
#define SESSION_REQUEST_NO_MACHINE_USAGE                                                   \
	"ptap_machine_usage: without effect: a host daemon (proftapd --host) records the " \
	"machine, and this capture did not come through one"

/* Writes the name, length and age, e.g. "session a: 60.0 s, begun 2.1 s ago". */
void session_request_describe(const struct session_request *request, char *text, size_t n);

/* Lists of requests, linked by |next|. The owner of a list owns its requests. */

size_t request_list_count(const struct session_request *list);

/* Puts |request| at the end. 0, or -ENOSPC if the list has |max| requests. */
int request_list_append(struct session_request **list, struct session_request *request, size_t max);

/* Takes the request at |at| out of the list. Owner: the caller. */
struct session_request *request_list_unlink(struct session_request **at);

/* Moves the requests of |*list| that |matches| accepts to another list, in the same order. */
struct session_request *request_list_pick(struct session_request **list,
	bool (*matches)(const struct session_request *, const void *), const void *key);
/* For |matches|: the request's call is |call|. */
bool request_is_of_call(const struct session_request *request, const void *call);
/* For |matches|: the request's session_id is the text |id|. */
bool request_has_id(const struct session_request *request, const void *id);

/*
 * Delivers the outcome |r| with |text| to each, and frees them all. The caller must not hold the
 * session's mutex.
 */
void request_list_tell(struct session_request *list, int r, const char *text);
/*
 * Delivers to each an empty trace with a warning that the recording never began, and frees them
 * all.
 */
void request_list_end_unbegun(struct session_request *list);

#endif
