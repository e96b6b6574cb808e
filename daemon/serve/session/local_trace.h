/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's side of ptap_trace_start() and ptap_trace_stop(): the program itself writes requests
 * into the arena (lib/wire/arena.h), and their recordings become runs on disk. The program may
 * write anything there, so all of it is checked.
 *
 * Threads: the worker's.
 */
#ifndef DAEMON_LOCAL_TRACE_H
#define DAEMON_LOCAL_TRACE_H

#include <stdbool.h>

#include "daemon/pipeline/recording/capture.h"
#include "trace/run_dir.h"

struct diag;
struct session_request;
struct target;

/* The program's error text when a client's capture runs already. */
extern const char local_trace_busy_text[];

#define LOCAL_TRACE_HOST_BYTES 300

/* The run in which the trace is written. */
struct local_trace {
	struct target *target;
	struct run_dir dir;
	char host[LOCAL_TRACE_HOST_BYTES]; /* the host in the file's name */
};

/*
 * Makes the host in the name of the file that the server writes for the program: HOSTNAME_PORT, or
 * HOSTNAME_NAME_PID without a port.
 */
void local_trace_name_host(const struct target *t, char host[LOCAL_TRACE_HOST_BYTES]);

/* Returns true if the program has made a request that was not taken yet. Cheap. */
bool local_trace_is_asked(const struct target *t);
/*
 * Takes the request: checks its options, and makes the directory and a temporary file. Owner: *out
 * (malloc'ed, its |trace| set) is the caller's. On failure answers the program and returns a
 * negative errno with |d|.
 */
int local_trace_take(struct target *t, struct session_request **out, struct diag *d);
/* Refuses a request that was not taken, because a capture runs. */
void local_trace_refuse(struct target *t);

/* Lets ptap_trace_start() return, because the trace is being recorded or waits for its start. */
void local_trace_begin(struct local_trace *trace);
/* Returns true if the program wants the trace to end. Cheap. */
bool local_trace_is_ending(const struct local_trace *trace);
/*
 * Publishes the result of capture_run(): |r|, |result| (NULL if |r| is not 0) and |d|. Then
 * ptap_trace_stop() returns.
 */
void local_trace_end(
	struct local_trace *trace, int r, const struct capture_result *result, struct diag *d);

struct local_trace *local_trace_free(struct local_trace *trace); /* NULL ok; returns NULL */

#endif
