/* SPDX-License-Identifier: Apache-2.0 */
/* A request to the session whose outcome is answered as a stream (trace_stream.h). Threads: any. */
#ifndef DAEMON_REQUEST_STREAM_H
#define DAEMON_REQUEST_STREAM_H

#include <stdint.h>

struct capture_result;
struct diag;
struct rpc_call;
struct session;
struct session_request;
struct trace_stream;
struct trace_streams;

/*
 * The outcome of |request| goes to |call|, with progress every |interval_ms| (0: none). NULL when it cannot: |call| was
 * told, and |request| freed. Who ends the session when the client is gone is the caller's to say.
 */
struct trace_stream *request_stream_prepare(struct trace_streams *streams, struct rpc_call *call,
	struct session_request *request, uint32_t interval_ms);
/* The same; a client that is gone ends its session. */
struct trace_stream *request_stream_open(struct session *session, struct trace_streams *streams,
	struct rpc_call *call, struct session_request *request, uint32_t interval_ms);

/* |r|: what the session said to the request. It starts, or |call| is told why not. */
void request_stream_start(
	struct session *session, struct rpc_call *call, struct trace_stream *stream, int r);

/* The |deliver| that the request was given. */
void request_stream_deliver(
	struct session_request *request, int r, struct capture_result *result, struct diag *d);

#endif
