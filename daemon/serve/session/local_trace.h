/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ptap_trace_start() and ptap_trace_stop() from the server's side: a request of the program itself,
 * in the arena, whose recording becomes a run on disk. The words are described in lib/wire/arena.h;
 * nothing in them is trusted. Only from the worker's thread.
 */
#ifndef DAEMON_LOCAL_TRACE_H
#define DAEMON_LOCAL_TRACE_H

#include "daemon/pipeline/recording/capture.h"
#include "trace/run_dir.h"

struct diag;
struct session_request;
struct target;

/* The program's error when a client's capture runs already. */
extern const char local_trace_busy_text[];

#define LOCAL_TRACE_HOST_BYTES 300

/* The run that the trace becomes. */
struct local_trace {
	struct target *target;
	struct run_dir dir;
	char host[LOCAL_TRACE_HOST_BYTES]; /* of the file's name */
};

/*
 * The name of the file that the server writes for the program: HOSTNAME_PORT, or HOSTNAME_NAME_PID
 * without a port.
 */
void local_trace_name_host(const struct target *t, char host[LOCAL_TRACE_HOST_BYTES]);

/* Whether the program asks for a trace that was not taken yet. Cheap. */
int local_trace_is_asked(const struct target *t);
/*
 * Takes it: checks the options, and makes directory and temporary file. Owner: *out (malloc'ed, its
 * |trace| set) belongs to the caller. A negative errno with |d| otherwise; then the program has its
 * answer.
 */
int local_trace_take(struct target *t, struct session_request **out, struct diag *d);
/* Answers a request that was not taken: there is a capture. */
void local_trace_refuse(struct target *t);

/* It records, or waits for its time: ptap_trace_start() returns. */
void local_trace_begin(struct local_trace *trace);
/* Whether the program wants it to end. Cheap. */
int local_trace_is_ending(const struct local_trace *trace);
/*
 * Publishes what capture_run() returned as |r| with |result| (NULL: nothing) and |d|, and answers:
 * ptap_trace_stop() returns.
 */
void local_trace_end(
	struct local_trace *trace, int r, const struct capture_result *result, struct diag *d);

struct local_trace *local_trace_free(struct local_trace *trace); /* NULL ok; returns NULL */

#endif
