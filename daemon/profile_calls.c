/* SPDX-License-Identifier: Apache-2.0 */
/* Profile and Terminate; see profile_calls.h. */
#include "daemon/profile_calls.h"

#include <errno.h>

#include "base/chunks.h"
#include "base/diag.h"
#include "daemon/capture.h"
#include "daemon/reply.h"
#include "daemon/request.h"
#include "daemon/service.h"
#include "daemon/session.h"
#include "daemon/session_request.h"
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

int profile_call_start(struct service *service, struct session_request *request)
{
	struct session *session = service->session;
	struct rpc_call *call = request->call;
	struct diag d = DIAG_INIT;
	int r;

	rpc_call_set_on_cancel(call, on_cancel, session);
	r = session_take(session, request);
	if (r == SESSION_BUSY)
		session_describe(session, d.text, sizeof d.text);
	if (r)
		reply_failure(call, r == SESSION_BUSY ? CAPTURE_BUSY : CAPTURE_NO_TARGET, &d);
	return r ? -1 : 0;
}

static void deliver(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	if (r)
		reply_failure(request->call, r, d);
	else
		reply_profile(request->call, result, request->emit_xspace);
}

void profile_call_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *service)
{
	struct session_request *request;

	if (profile_call_decode(call, bytes, n, &request))
		return;
	request->deliver = deliver;
	profile_call_start(service, request);
}

/* Always OK, also for an id that nobody knows; nothing is kept for a later session of that id. */
void profile_call_handle_terminate(
	struct rpc_call *call, const uint8_t *bytes, size_t n, void *service)
{
	Tensorflow__TerminateRequest *message =
		tensorflow__terminate_request__unpack(NULL, n, bytes);
	struct chunks empty = CHUNKS_INIT;

	if (!message) {
		rpc_call_fail(call, RPC_INVALID_ARGUMENT, "the request is not a TerminateRequest");
		return;
	}
	session_terminate(((struct service *)service)->session, message->session_id);
	tensorflow__terminate_request__free_unpacked(message, NULL);
	rpc_call_reply(call, &empty);
}
