/* SPDX-License-Identifier: Apache-2.0 */
/* Outcomes as streams; see request_stream.h. */
#include "daemon/serve/calls/request_stream.h"

#include <errno.h>

#include "base/diag.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/message/reply_v1.h"
#include "daemon/serve/message/trace_stream.h"
#include "daemon/serve/session/session.h"
#include "daemon/serve/session/session_request.h"
#include "rpc/server.h"

static void on_cancel(struct rpc_call *call, void *session)
{
	session_cancel(session, call);
}

void request_stream_deliver(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	trace_stream_end(request->context, r, result, d);
}

static void fail(struct rpc_call *call, int r)
{
	struct diag d = DIAG_INIT;

	if (r == -EUSERS)
		rpc_call_fail(call, RPC_RESOURCE_EXHAUSTED,
			"too many traces wait for readers that do not take them; try again later");
	else
		reply_v1_failure(call,
			diag_set(&d, r, "no thread to deliver the trace: %s", errno_words(r)), &d);
}

struct trace_stream *request_stream_prepare(struct trace_streams *streams, struct rpc_call *call,
	struct session_request *request, uint32_t interval_ms)
{
	const struct trace_stream_config config = {
		.place = {streams,
			capture_find_wait_ns(request->capture.options.start_timestamp_ns) > 0},
		.interval_ms = interval_ms,
		.idle_ms = TRACE_STREAM_IDLE_MS,
	};
	struct trace_stream *stream = NULL;
	int r = trace_stream_new(call, &config, &stream);

	if (r) {
		session_request_free(request);
		fail(call, r);
		return NULL;
	}
	request->call = call;
	request->deliver = request_stream_deliver;
	request->context = stream;
	request->progress = trace_stream_get_progress(stream);
	return stream;
}

struct trace_stream *request_stream_open(struct session *session, struct trace_streams *streams,
	struct rpc_call *call, struct session_request *request, uint32_t interval_ms)
{
	struct trace_stream *stream = request_stream_prepare(streams, call, request, interval_ms);

	if (stream)
		rpc_call_set_on_cancel(call, on_cancel, session);
	return stream;
}

void request_stream_start(
	struct session *session, struct rpc_call *call, struct trace_stream *stream, int r)
{
	if (!r) {
		trace_stream_start(stream);
		return;
	}
	trace_stream_abandon(stream);
	reply_v1_refusal(call, session, r);
}
