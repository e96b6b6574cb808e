/* SPDX-License-Identifier: Apache-2.0 */
/* Profile and Terminate; see profile_calls.h. */
#include "daemon/serve/calls/profile_calls.h"

#include <errno.h>

#include "base/diag.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/calls/errand.h"
#include "daemon/serve/calls/file_delivery.h"
#include "daemon/serve/calls/service.h"
#include "daemon/serve/calls/subprocesses.h"
#include "daemon/serve/message/reply.h"
#include "daemon/serve/message/reply_message.h"
#include "daemon/serve/message/request.h"
#include "daemon/serve/session/session.h"
#include "daemon/serve/session/session_request.h"
#include "rpc/server.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

static void on_cancel(struct rpc_call *call, void *session)
{
	session_cancel(session, call);
}

int profile_call_decode(
	struct rpc_call *call, const uint8_t *bytes, size_t n, struct session_request **out)
{
	struct diag d = DIAG_INIT;
	int r = request_decode(bytes, n, out, &d);

	if (r == -ENOMEM)
		reply_failure(call, r, &d);
	else if (r)
		rpc_call_fail(call, RPC_INVALID_ARGUMENT, d.text);
	else
		(*out)->call = call;
	return r ? -1 : 0;
}

/* |r|: what the session said to the request of |call|. */
static void refuse(struct service *service, struct rpc_call *call, int r)
{
	struct diag d = DIAG_INIT;

	switch (r) {
	case SESSION_BUSY:
		session_describe(service->session, d.text, sizeof d.text);
		reply_failure(call, CAPTURE_BUSY, &d);
		break;
	case -ENOMEM:
		reply_failure(call, r, &d);
		break;
	default:
		reply_gone(call, service->session);
		break;
	}
}

static void deliver(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	if (r)
		reply_failure(request->call, r, d);
	else
		reply_profile(request->call, result, request->emit_xspace);
}

static void deliver_file(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	if (r)
		reply_failure(request->call, r, d);
	else
		file_delivery_finish(request, result, d);
}

/* 0, or -1: the call was answered. */
static int choose_delivery(struct service *service, struct session_request *request)
{
	request->deliver = deliver;
	request->capture.max_xspace_bytes = REPLY_MAX_XSPACE_BYTES;
	if (request_warn_of_host_options(request, request->call)) {
		reply_failure(request->call, -ENOMEM, NULL);
		return -1;
	}
	if (!file_delivery_is_wanted(service->repository, request))
		return 0;
	request->deliver = deliver_file;
	request->capture.max_xspace_bytes = 0;
	return file_delivery_open(service->repository, request) ? -1 : 0;
}

/* Does the work of profile_call_handle() on a thread of its own. */
static void profile_tree(struct errand *e)
{
	struct service *service = e->context;
	const struct subprocesses_config config = {e, service->session, service->registry};
	struct session_request *request;
	struct subprocesses *tree;
	int r;

	if (profile_call_decode(e->call, e->request, e->request_bytes, &request))
		return;
	if (choose_delivery(service, request)) {
		session_request_free(request);
		return;
	}
	r = subprocesses_take(&config, request, &tree);
	if (r)
		refuse(service, e->call, r);
	else
		subprocesses_record(tree);
}

static void profile(struct service *service, struct session_request *request)
{
	struct rpc_call *call = request->call;
	int r;

	if (choose_delivery(service, request)) {
		session_request_free(request);
		return;
	}
	rpc_call_set_on_cancel(call, on_cancel, service->session);
	r = session_take(service->session, request);
	if (r)
		refuse(service, call, r);
}

void profile_call_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct service *service = context;
	struct session_request *request;

	if (profile_call_decode(call, bytes, n, &request))
		return;
	if (!subprocesses_are_wanted(request)) {
		profile(service, request);
		return;
	}
	session_request_free(request);
	errand_start(service->errands, ERRAND_RECORDING, call, bytes, n, profile_tree);
}

/* Always OK, also for an id that nobody knows; nothing is kept for a later session of that id. */
void profile_call_handle_terminate(
	struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct service *service = context;
	Tensorflow__TerminateRequest *message =
		tensorflow__terminate_request__unpack(NULL, n, bytes);

	if (!message) {
		rpc_call_fail(call, RPC_INVALID_ARGUMENT, "the request is not a TerminateRequest");
		return;
	}
	session_terminate(service->session, message->session_id);
	tensorflow__terminate_request__free_unpacked(message, NULL);
	reply_empty(call);
}
