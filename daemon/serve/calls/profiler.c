/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of proftap.v1.Profiler that record. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/diag.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/calls/continuous_session.h"
#include "daemon/serve/calls/errand.h"
#include "daemon/serve/calls/recorder_calls.h"
#include "daemon/serve/calls/service.h"
#include "daemon/serve/calls/service_handlers.h"
#include "daemon/serve/calls/subprocesses.h"
#include "daemon/serve/message/reply_message.h"
#include "daemon/serve/message/reply_v1.h"
#include "daemon/serve/message/request.h"
#include "daemon/serve/message/trace_part.h"
#include "daemon/serve/message/trace_stream.h"
#include "daemon/serve/session/session.h"
#include "daemon/serve/session/session_request.h"
#include "proftap/v1/profiler.pb-c.h"
#include "rpc/server.h"

/* --- streams ---------------------------------------------------------------------------------- */

static void stream_on_cancel(struct rpc_call *call, void *session)
{
	session_cancel(session, call);
}

/* The |deliver| of requests that are answered as a stream. */
static void request_stream_deliver(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	trace_stream_end(request->context, r, result, d);
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

/*
 * The outcome of |request| goes to |call|, with progress every |interval_ms| (0: none). NULL when
 * it cannot: |call| was told, and |request| freed. The caller says what ends the session when the
 * client is gone.
 */
static struct trace_stream *request_stream_prepare(struct trace_streams *streams,
	struct rpc_call *call, struct session_request *request, uint32_t interval_ms)
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
		fail_stream(call, r);
		return NULL;
	}
	request->call = call;
	request->deliver = request_stream_deliver;
	request->context = stream;
	request->progress = trace_stream_get_progress(stream);
	return stream;
}

/* The same; a client that is gone ends its session. */
static struct trace_stream *request_stream_open(struct session *session,
	struct trace_streams *streams, struct rpc_call *call, struct session_request *request,
	uint32_t interval_ms)
{
	struct trace_stream *stream = request_stream_prepare(streams, call, request, interval_ms);

	if (stream)
		rpc_call_set_on_cancel(call, stream_on_cancel, session);
	return stream;
}

/* |r|: what the session said to the request. It starts, or |call| is told why not. */
static void request_stream_start(
	struct session *session, struct rpc_call *call, struct trace_stream *stream, int r)
{
	if (!r) {
		trace_stream_start(stream);
		return;
	}
	trace_stream_abandon(stream);
	reply_v1_refusal(call, session, r);
}

/* Capture. */

/* 0 or -1: the call was answered. */
static int decode_capture(struct rpc_call *call, const uint8_t *bytes, size_t n,
	struct session_request **out, uint32_t *interval_ms)
{
	struct diag d = DIAG_INIT;
	int r = request_decode_capture(bytes, n, out, interval_ms, &d);

	if (!r && request_warn_of_host_options(*out, call)) {
		*out = session_request_free(*out);
		r = -ENOMEM;
	}
	if (r)
		reply_v1_failure(call, r, &d);
	return r ? -1 : 0;
}

/* Does the work of profiler_handle_capture() on a thread of its own. */
static void capture_tree(struct errand *e)
{
	const struct service *service = e->context;
	const struct subprocesses_config config = {e, service->session, service->registry};
	struct session_request *request;
	struct trace_stream *stream;
	struct subprocesses *tree;
	uint32_t interval_ms;
	int r;

	if (decode_capture(e->call, e->request, e->request_bytes, &request, &interval_ms))
		return;
	stream = request_stream_prepare(service->streams, e->call, request, interval_ms);
	if (!stream)
		return;
	r = subprocesses_take(&config, request, &tree);
	request_stream_start(service->session, e->call, stream, r);
	if (!r)
		subprocesses_record(tree);
}

void profiler_handle_capture(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct service *service = context;
	struct session_request *request;
	struct trace_stream *stream;
	uint32_t interval_ms;

	if (decode_capture(call, bytes, n, &request, &interval_ms))
		return;
	if (subprocesses_are_wanted(request)) {
		session_request_free(request);
		errand_start(service->errands, ERRAND_RECORDING, call, bytes, n, capture_tree);
		return;
	}
	stream =
		request_stream_open(service->session, service->streams, call, request, interval_ms);
	if (stream)
		request_stream_start(
			service->session, call, stream, session_take(service->session, request));
}

/* Continuous sessions, and the flight recorder. */

static void reply_started(struct session_request *request, struct rpc_call *call)
{
	Proftap__V1__StartReply reply = PROFTAP__V1__START_REPLY__INIT;

	reply.session_id = request->session_id;
	reply_message(call, &reply.base);
}

/* It did not begin. */
static void deliver_failure(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	delivery_free(result->delivery);
	reply_v1_failure(request->call, r ? r : CAPTURE_CANCELLED, d);
}

void profiler_handle_start(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct service *service = context;
	struct session_request *request;
	struct diag d = DIAG_INIT;
	int for_recorder = 0;
	int r = request_decode_start(bytes, n, &request, &for_recorder, &d);

	if (r) {
		reply_v1_failure(call, r, &d);
		return;
	}
	request->call = call;
	request->begin = reply_started;
	request->deliver = deliver_failure;
	r = for_recorder ? recorder_call_start(service->session, request)
			 : session_start_continuous(service->session, request);
	if (r)
		reply_v1_refusal(call, service->session, r);
}

/* A request for what a session has recorded. The call is told when there is no memory for it. */
static struct session_request *new_request(struct rpc_call *call)
{
	struct session_request *request = calloc(1, sizeof *request);

	if (request)
		profile_options_init(&request->capture.options);
	else
		reply_v1_failure(call, -ENOMEM, NULL);
	return request;
}

/* The session can end before it is this one's turn; the program need not. */
static void deliver_snapshot(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	if (r == CAPTURE_NO_TARGET)
		r = diag_set(d, -ENOENT, "the session has ended");
	request_stream_deliver(request, r, result, d);
}

static void snapshot(
	struct service *service, struct rpc_call *call, const Proftap__V1__SnapshotRequest *m)
{
	struct session_request *request = new_request(call);
	struct trace_stream *stream =
		request ? request_stream_open(service->session, service->streams, call, request, 0)
			: NULL;

	if (!stream)
		return;
	request->deliver = deliver_snapshot;
	request->last_ms = m->last_ms;
	request->keeps = m->keep;
	request_stream_start(service->session, call, stream,
		recorder_call_snapshot(service->session, m->session_id, request));
}

void profiler_handle_snapshot(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	Proftap__V1__SnapshotRequest *message =
		proftap__v1__snapshot_request__unpack(NULL, n, bytes);

	if (!message) {
		rpc_call_fail(call, RPC_INVALID_ARGUMENT, "the request is not a SnapshotRequest");
		return;
	}
	if (message->last_ms && message->session_id[0] &&
		strcmp(message->session_id, REQUEST_RECORDER_ID) != 0)
		rpc_call_fail(call, RPC_INVALID_ARGUMENT,
			"last_ms: only the flight recorder has that; leave session_id empty");
	else
		snapshot(context, call, message);
	proftap__v1__snapshot_request__free_unpacked(message, NULL);
}

/* Stop. */

/* The client that ends a continuous session or the recorder gets the data that is left. */
static void stop(struct service *service, struct rpc_call *call, const char *session_id)
{
	struct session_request *request = new_request(call);
	struct trace_stream *stream =
		request ? request_stream_open(service->session, service->streams, call, request, 0)
			: NULL;

	if (stream)
		request_stream_start(service->session, call, stream,
			recorder_call_stop(service->session, session_id, request));
}

/* A trailer only: there is no data, or it is another call's. */
static void reply_nothing(struct rpc_call *call)
{
	const struct capture_result nothing = {.is_empty = 1};
	struct chunks message = CHUNKS_INIT;

	trace_part_add_trailer(&message, &nothing, 0, XXH3_64bits(NULL, 0));
	if (rpc_call_write(call, &message, 0) == -ENOMEM)
		reply_v1_failure(call, -ENOMEM, NULL);
	else
		rpc_call_finish(call, RPC_OK, "");
}

static void deliver_nothing(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	(void)r, (void)d;
	delivery_free(result->delivery);
	reply_nothing(request->call);
}

static void discard(struct service *service, struct rpc_call *call, const char *session_id)
{
	struct session_request *request = new_request(call);
	int r;

	if (!request)
		return;
	request->call = call;
	request->deliver = deliver_nothing;
	request->discards = 1;
	r = recorder_call_stop(service->session, session_id, request);
	if (r)
		reply_v1_refusal(call, service->session, r);
}

/* One of a call's. */
static void end(struct service *service, struct rpc_call *call, const Proftap__V1__StopRequest *m)
{
	int r = session_end(service->session, m->session_id, m->discard);

	if (r)
		reply_v1_refusal(call, service->session, r);
	else
		reply_nothing(call);
}

void profiler_handle_stop(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct service *service = context;
	Proftap__V1__StopRequest *message = proftap__v1__stop_request__unpack(NULL, n, bytes);

	if (!message) {
		rpc_call_fail(call, RPC_INVALID_ARGUMENT, "the request is not a StopRequest");
		return;
	}
	if (!session_is_continuous(service->session) &&
		!recorder_call_is_meant(service->session, message->session_id))
		end(service, call, message);
	else if (message->discard)
		discard(service, call, message->session_id);
	else
		stop(service, call, message->session_id);
	proftap__v1__stop_request__free_unpacked(message, NULL);
}
