/* SPDX-License-Identifier: Apache-2.0 */
/* Capture and Stop of proftap.v1; see profiler.h. */
#include "daemon/profiler.h"

#include <errno.h>
#include <stdio.h>

#include <xxhash.h>

#include "base/diag.h"
#include "daemon/capture.h"
#include "daemon/reply.h"
#include "daemon/request.h"
#include "daemon/service.h"
#include "daemon/session.h"
#include "daemon/session_request.h"
#include "daemon/trace_part.h"
#include "daemon/trace_stream.h"
#include "proftap/v1/profiler.pb-c.h"
#include "rpc/server.h"

static void on_cancel(struct rpc_call *call, void *session)
{
	session_cancel(session, call);
}

static void fail_request(struct rpc_call *call, int r, const struct diag *d)
{
	if (r == -EINVAL)
		rpc_call_fail(call, RPC_INVALID_ARGUMENT, d->text);
	else
		reply_v1_failure(call, r, d);
}

static void fail_stream(struct rpc_call *call, int r)
{
	struct diag d = DIAG_INIT;

	if (r == -EUSERS)
		rpc_call_fail(call, RPC_RESOURCE_EXHAUSTED,
			"too many traces wait for readers that do not take them; try again later");
	else
		reply_v1_failure(call,
			diag_set(&d, r, "no thread to deliver the trace: %s", errno_words(r)), &d);
}

/* A trace_stream's outcome; see session_request.deliver. */
static void deliver(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	trace_stream_end(request->context, r, result, d);
}

/* Takes |request|. */
static void start(struct service *service, struct session_request *request, struct trace_stream *s)
{
	struct rpc_call *call = request->call;
	struct diag d = DIAG_INIT;
	int r;

	rpc_call_set_on_cancel(call, on_cancel, service->session);
	r = session_take(service->session, request);
	if (!r) {
		trace_stream_start(s);
		return;
	}
	trace_stream_abandon(s);
	if (r == SESSION_BUSY)
		session_describe(service->session, d.text, sizeof d.text);
	reply_v1_failure(call, r == SESSION_BUSY ? CAPTURE_BUSY : CAPTURE_NO_TARGET, &d);
}

void profiler_handle_capture(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct service *service = context;
	struct session_request *request;
	struct trace_stream *stream;
	struct diag d = DIAG_INIT;
	struct trace_stream_config config = {
		.n_streams = &service->n_streams,
		.idle_ms = TRACE_STREAM_IDLE_MS,
	};
	int r = request_decode_capture(bytes, n, &request, &config.interval_ms, &d);

	if (r) {
		fail_request(call, r, &d);
		return;
	}
	r = trace_stream_new(call, &config, &stream);
	if (r) {
		session_request_free(request);
		fail_stream(call, r);
		return;
	}
	request->call = call;
	request->deliver = deliver;
	request->context = stream;
	request->progress = trace_stream_get_progress(stream);
	start(service, request, stream);
}

/* What a session that is another call's leaves for the one who stopped it. */
static void answer_without_data(struct rpc_call *call)
{
	const struct capture_result nothing = {.is_empty = 1};
	struct chunks message = CHUNKS_INIT;

	trace_part_add_trailer(&message, &nothing, 0, XXH3_64bits(NULL, 0));
	if (rpc_call_write(call, &message, 0) == -ENOMEM)
		reply_v1_failure(call, -ENOMEM, NULL);
	else
		rpc_call_finish(call, RPC_OK, "");
}

static void stop(struct service *service, struct rpc_call *call, const Proftap__V1__StopRequest *m)
{
	char text[320];

	switch (session_end(service->session, m->session_id, m->discard)) {
	case 0:
		answer_without_data(call);
		break;
	case SESSION_OWN:
		rpc_call_fail(call, RPC_FAILED_PRECONDITION,
			"the program traces itself: only the program can end that");
		break;
	default:
		snprintf(text, sizeof text,
			m->session_id[0] ? "no session %.256s" : "no session runs%s",
			m->session_id);
		rpc_call_fail(call, RPC_NOT_FOUND, text);
		break;
	}
}

void profiler_handle_stop(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	Proftap__V1__StopRequest *message = proftap__v1__stop_request__unpack(NULL, n, bytes);

	if (!message) {
		rpc_call_fail(call, RPC_INVALID_ARGUMENT, "the request is not a StopRequest");
		return;
	}
	stop(context, call, message);
	proftap__v1__stop_request__free_unpacked(message, NULL);
}
