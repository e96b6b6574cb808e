/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer to a call of proftap.v1 that brings a trace: progress while it is made, the XSpace in chunks, a trailer. A
 * thread of its own writes it, so that the session is free as soon as the recording is over, and a reader that takes its
 * time holds up nobody else. It holds two messages of 1 MiB at most, and gives up a reader that takes nothing for a
 * minute.
 *
 * Threads: any. It is gone when it was started, was ended, and has written everything.
 */
#ifndef DAEMON_TRACE_STREAM_H
#define DAEMON_TRACE_STREAM_H

#include <stdint.h>

#include "daemon/serve/message/stream_place.h"

struct capture_result;
struct diag;
struct progress;
struct rpc_call;
struct trace_stream;

#define TRACE_STREAM_IDLE_MS 60000

struct trace_stream_config {
	struct stream_place place;
	uint32_t interval_ms; /* between two messages of progress; 0: none */
	int64_t idle_ms; /* a reader that took nothing for so long is given up */
};

/*
 * A stream for |call|, which is left alone until it starts or ends. 0, -EUSERS when there are too many, -EAGAIN without
 * a thread, -ENOMEM.
 */
int trace_stream_new(
	struct rpc_call *call, const struct trace_stream_config *config, struct trace_stream **out);
/* Where the recording says how far it is, until trace_stream_end(). */
struct progress *trace_stream_get_progress(struct trace_stream *s);

/* Tells the client that its call was accepted, and then how far it is. Once, before or after trace_stream_end(). */
void trace_stream_start(struct trace_stream *s);

/* The outcome, as of capture_run(); takes the contents of |result|. |d|: a text, where capture.h says so. Once. */
void trace_stream_end(
	struct trace_stream *s, int r, struct capture_result *result, const struct diag *d);
/* Instead of both: the call is not answered by this stream. */
void trace_stream_abandon(struct trace_stream *s);

#endif
