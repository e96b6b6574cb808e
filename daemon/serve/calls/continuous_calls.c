/* SPDX-License-Identifier: Apache-2.0 */
/*
 * StartContinuousProfiling, GetSnapshot and StopContinuousProfiling of tensorflow.ProfilerService,
 * under their older names too, with the stock server's codes and texts.
 */
#include "daemon/serve/calls/service_handlers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/calls/continuous_session.h"
#include "daemon/serve/calls/file_delivery.h"
#include "daemon/serve/calls/profile_calls.h"
#include "daemon/serve/calls/recorder_calls.h"
#include "daemon/serve/calls/service.h"
#include "daemon/serve/message/reply.h"
#include "daemon/serve/message/reply_message.h"
#include "daemon/serve/session/session.h"
#include "daemon/serve/session/session_request.h"
#include "rpc/server.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

/* The stock server's words. */
static const char no_session[] = "No continuous profiling session found.";
static const char running[] = "A profiling session is already running.";
static const char bad_name[] =
	"Invalid snapshot_session_id. Only alphanumeric, underscores, and hyphens are allowed.";

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
#define MAX_NAME_BYTES 128

/* Start. */

static void fail_start(struct rpc_call *call, const char *reason)
{
	rpc_call_fail_with(call, RPC_INTERNAL, "Failed to create profiler session: %s", reason);
}

static void begin(struct session_request *request, struct rpc_call *call)
{
	(void)request;
	reply_empty(call);
}

/* It did not begin. */
static void deliver_failure(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	delivery_free(result->delivery);
	if (r < 0 && r != -ENOMEM)
		fail_start(request->call, d->text);
	else
		reply_failure(request->call, r ? r : CAPTURE_CANCELLED, d);
}

static void fail_busy(struct rpc_call *call, struct session *session)
{
	char text[320];
	size_t n;

	if (session_is_continuous(session)) {
		rpc_call_fail(call, RPC_ALREADY_EXISTS, running);
		return;
	}
	n = (size_t)snprintf(text, sizeof text, "Another profiling session active. ");
	session_describe(session, text + n, sizeof text - n);
	fail_start(call, text);
}

/*
 * XProf's Python client always sends this pair, whatever its user says: the first for a TPU's ring,
 * the second because a TPU's server then has nothing else to tell. Its users want to see something.
 */
static int lift_forced_level(struct session_request *request)
{
	struct profile_options *o = &request->capture.options;
	struct profile_options defaults;
	char text[160];

	if (o->host_tracer_level > 0 ||
		!profile_options_get_number(o, "tpu_circular_buffer_tracing", 0))
		return 0;
	profile_options_init(&defaults);
	o->host_tracer_level = defaults.host_tracer_level;
	snprintf(text, sizeof text,
		"host_tracer_level: 0 beside tpu_circular_buffer_tracing, as XProf's client always has "
		"it, is read as %u, the default",
		o->host_tracer_level);
	return capture_request_warn(&request->capture, text);
}

void continuous_call_start(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct service *service = context;
	struct session *session = service->session;
	struct session_request *request;
	int r;

	if (profile_call_decode(call, bytes, n, &request))
		return;
	if (lift_forced_level(request)) {
		session_request_free(request);
		reply_no_memory(call);
		return;
	}
	request->begin = begin;
	request->deliver = deliver_failure;
	r = session_start_continuous(session, request);
	if (r == SESSION_BUSY)
		fail_busy(call, session);
	else if (r == -ENOMEM)
		reply_no_memory(call);
	else if (r)
		reply_gone(call, session);
}

/* The others. */

static void fail_ask(struct rpc_call *call, int r)
{
	if (r == SESSION_NONE || r == SESSION_NO_RECORDER)
		rpc_call_fail(call, RPC_NOT_FOUND, no_session);
	else
		rpc_call_fail(
			call, RPC_RESOURCE_EXHAUSTED, "too many snapshots are asked for at a time");
}

/*
 * A request for the data of a session that runs; answers the call when there is no memory for it.
 */
static struct session_request *new_request(struct rpc_call *call,
	void (*deliver)(struct session_request *, int, struct capture_result *, struct diag *))
{
	struct session_request *request = calloc(1, sizeof *request);

	if (!request) {
		reply_no_memory(call);
		return NULL;
	}
	profile_options_init(&request->capture.options);
	request->call = call;
	request->deliver = deliver;
	request->emit_xspace = 1;
	return request;
}

static void on_cancel(struct rpc_call *call, void *session)
{
	session_cancel(session, call);
}

static void deliver_snapshot(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	if (r == CAPTURE_NO_TARGET)
		rpc_call_fail(request->call, RPC_NOT_FOUND, no_session);
	else if (r)
		reply_failure(request->call, r, d);
	else if (request->run)
		file_delivery_finish(request, result, d);
	else
		reply_profile(request->call, result, request->emit_xspace);
}

/*
 * One that has a name becomes a run of that name, where the session's client said at its start. 0
 * or -1: answered.
 */
static int choose_place(struct service *service, struct session_request *request, const char *name)
{
	int r;

	if (!name[0])
		return 0;
	request->session_id = strdup(name);
	r = request->session_id ? session_copy_place(service->session, request) : -ENOMEM;
	if (r) {
		rpc_call_fail(request->call, RPC_RESOURCE_EXHAUSTED,
			"the profiler server is out of memory");
		return -1;
	}
	request->emit_xspace = 0;
	if (file_delivery_is_wanted(service->repository, request))
		return file_delivery_open(service->repository, request) ? -1 : 0;
	request->emit_xspace = 1;
	return 0;
}

static void get_snapshot(struct rpc_call *call, struct service *service, const char *name)
{
	struct session_request *request = new_request(call, deliver_snapshot);
	int r;

	if (!request)
		return;
	if (choose_place(service, request, name)) {
		session_request_free(request);
		return;
	}
	rpc_call_set_on_cancel(call, on_cancel, service->session);
	r = recorder_call_snapshot(service->session, "", request);
	if (r)
		fail_ask(call, r);
}

void continuous_call_get_snapshot(
	struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct service *service = context;
	Tensorflow__GetSnapshotRequest *message =
		tensorflow__get_snapshot_request__unpack(NULL, n, bytes);
	const char *name = message ? message->snapshot_session_id : "";

	if (!message)
		rpc_call_fail(
			call, RPC_INVALID_ARGUMENT, "the request is not a GetSnapshotRequest");
	else if (strlen(name) > MAX_NAME_BYTES || name[strspn(name, NAME_LETTERS)])
		rpc_call_fail(call, RPC_INVALID_ARGUMENT, bad_name);
	else
		get_snapshot(call, service, name);
	if (message)
		tensorflow__get_snapshot_request__free_unpacked(message, NULL);
}

void continuous_call_get_old_snapshot(
	struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct service *service = context;

	(void)bytes;
	(void)n;
	get_snapshot(call, service, "");
}

static void deliver_end(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	(void)r;
	(void)d;
	delivery_free(result->delivery);
	reply_empty(request->call);
}

void continuous_call_stop(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct service *service = context;
	struct session_request *request = new_request(call, deliver_end);
	int r;

	(void)bytes;
	(void)n;
	if (!request)
		return;
	request->discards = 1;
	r = session_stop(service->session, NULL, request);
	if (r)
		fail_ask(call, r);
}
