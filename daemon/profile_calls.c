/* SPDX-License-Identifier: Apache-2.0 */
/* Profile and Terminate; see profile_calls.h. */
#include "daemon/profile_calls.h"

#include <errno.h>
#include <stdlib.h>

#include "base/diag.h"
#include "daemon/capture.h"
#include "daemon/delivery.h"
#include "daemon/errand.h"
#include "daemon/reply.h"
#include "daemon/reply_message.h"
#include "daemon/request.h"
#include "daemon/service.h"
#include "daemon/session.h"
#include "daemon/session_request.h"
#include "daemon/subprocesses.h"
#include "rpc/server.h"
#include "trace/run_dir.h"
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
		reply_failure(call, CAPTURE_NO_TARGET, &d);
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

/* As the stock server does it: the file is written here, and the answer only says whether there was anything. */
static void deliver_file(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	char own_name[300];
	int error = 0;

	if (r) {
		reply_failure(request->call, r, d);
		return;
	}
	repository_name_host(own_name, sizeof own_name);
	if (!result->is_empty)
		error = repository_publish(request->run, result->delivery,
			request->host_name ? request->host_name : own_name, d);
	result->delivery = delivery_free(result->delivery);
	if (error)
		rpc_call_fail(request->call, RPC_INTERNAL, d->text);
	else
		reply_profile(request->call, result, 0);
}

/* Nothing is written where the operator did not say so: then the data goes to the client. */
static int is_file_wanted(const struct service *service, const struct session_request *request)
{
	return !request->emit_xspace && request->repository_root && request->session_id &&
	       repository_contains(&service->repository, request->repository_root);
}

/* What can go wrong with the place does before anything is recorded. */
static int open_file(struct service *service, struct session_request *request)
{
	struct diag d = DIAG_INIT;
	int r = -ENOMEM;

	request->run = calloc(1, sizeof *request->run);
	if (request->run)
		r = repository_open_run(&service->repository, request->repository_root,
			request->session_id, request->run, &d);
	if (!r)
		return 0;
	rpc_call_fail(request->call, RPC_INTERNAL, r == -ENOMEM ? "out of memory" : d.text);
	free(request->run);
	request->run = NULL;
	return r;
}

/* 0, or -1: the call was answered. */
static int choose_delivery(struct service *service, struct session_request *request)
{
	request->deliver = deliver;
	request->max_xspace_bytes = REPLY_MAX_XSPACE_BYTES;
	if (!is_file_wanted(service, request))
		return 0;
	request->deliver = deliver_file;
	request->max_xspace_bytes = 0;
	return open_file(service, request) ? -1 : 0;
}

/* As profile_call_handle(), on a thread of its own. */
static void profile_tree(struct errand *e)
{
	struct session_request *request;
	struct subprocesses *tree;
	int r;

	if (profile_call_decode(e->call, e->request, e->request_bytes, &request))
		return;
	if (choose_delivery(e->service, request)) {
		session_request_free(request);
		return;
	}
	r = subprocesses_take(e, request, &tree);
	if (r)
		refuse(e->service, e->call, r);
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

void profile_call_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *service)
{
	struct session_request *request;

	if (profile_call_decode(call, bytes, n, &request))
		return;
	if (!subprocesses_are_wanted(request)) {
		profile(service, request);
		return;
	}
	session_request_free(request);
	errand_start(service, call, bytes, n, profile_tree);
}

/* Always OK, also for an id that nobody knows; nothing is kept for a later session of that id. */
void profile_call_handle_terminate(
	struct rpc_call *call, const uint8_t *bytes, size_t n, void *service)
{
	Tensorflow__TerminateRequest *message =
		tensorflow__terminate_request__unpack(NULL, n, bytes);

	if (!message) {
		rpc_call_fail(call, RPC_INVALID_ARGUMENT, "the request is not a TerminateRequest");
		return;
	}
	session_terminate(((struct service *)service)->session, message->session_id);
	tensorflow__terminate_request__free_unpacked(message, NULL);
	reply_empty(call);
}
