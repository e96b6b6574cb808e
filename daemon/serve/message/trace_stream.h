/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer to a call of proftap.v1 that carries a trace: progress while it is made, the XSpace in
 * chunks, and a trailer. A thread of its own writes it, so that the session is free as soon as the
 * recording is over, and a slow reader delays nobody else. It holds two messages of 1 MiB at most,
 * and gives up a reader that takes nothing for a minute.
 *
 * Threads: any. A stream frees itself after it was started, was ended, and has written everything.
 */
#ifndef DAEMON_TRACE_STREAM_H
#define DAEMON_TRACE_STREAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct capture_result;
struct diag;
struct progress;
struct rpc_call;
struct trace_stream;

#define TRACE_STREAM_IDLE_MS 60000

/* The limit of streams; each has a thread, and perhaps a trace whose reader is slow. */
#define TRACE_STREAM_MAX 8
/* The limit of further streams, which wait for a start in the future and have no trace yet. */
#define TRACE_STREAM_MAX_WAITING 64

/* The number of streams of a server. */
struct trace_streams {
	atomic_uint n;
	atomic_uint n_waiting; /* of captures with a start in the future */
};

/* The place of one stream among all streams. */
struct stream_place {
	struct trace_streams *all;
	bool is_for_later; /* counted in |n_waiting| */
};

struct trace_stream_config {
	struct stream_place place;
	uint32_t interval_ms; /* between two messages of progress; 0: none */
	int64_t idle_ms; /* a reader that takes nothing for this time is given up */
};

/*
 * Makes a stream for |call|, to which it writes nothing before it starts or ends. 0; -EUSERS: there
 * are too many streams; -EAGAIN: its thread could not be created; or -ENOMEM.
 */
int trace_stream_new(
	struct rpc_call *call, const struct trace_stream_config *config, struct trace_stream **out);
/* The progress that the recording updates until trace_stream_end(). */
struct progress *trace_stream_get_progress(struct trace_stream *s);

/*
 * Begins to send progress to the client, whose call was accepted. Call it once, before or after
 * trace_stream_end().
 */
void trace_stream_start(struct trace_stream *s);

/*
 * Sets the outcome of capture_run(); takes the contents of |result|. |d| is a text as explained in
 * capture.h. Call it once.
 */
void trace_stream_end(
	struct trace_stream *s, int r, struct capture_result *result, const struct diag *d);
/* Ends the stream without an answer. Call it instead of the two functions above. */
void trace_stream_abandon(struct trace_stream *s);

#endif
