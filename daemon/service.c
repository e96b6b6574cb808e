/* SPDX-License-Identifier: Apache-2.0 */
/* tensorflow.ProfilerService; see service.h. */
#include "daemon/service.h"

#include <errno.h>
#include <string.h>

#include "base/chunks.h"
#include "base/diag.h"
#include "daemon/request.h"
#include "daemon/session.h"
#include "daemon/session_request.h"
#include "rpc/server.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

#define MAX_REQUEST_BYTES (4u << 20)

/* Stock servers say the first sentence, and stock clients know it; ours quotes the rest. */
static const char busy_text[] = "Another profiling session active. ";

static void on_cancel(struct rpc_call *call, void *context)
{
	session_cancel(context, call);
}

static void fail(struct rpc_call *call, int r, const struct diag *d)
{
	if (r == -ENOMEM)
		rpc_call_fail(call, RPC_RESOURCE_EXHAUSTED, "the profiler server is out of memory");
	else
		rpc_call_fail(call, RPC_INVALID_ARGUMENT, d->text);
}

static void fail_busy(struct rpc_call *call, struct session *session)
{
	char text[sizeof busy_text + 256];

	strcpy(text, busy_text);
	session_describe(session, text + sizeof busy_text - 1, 256);
	rpc_call_fail(call, RPC_INTERNAL, text);
}

static void start_session(
	struct session *session, struct rpc_call *call, struct session_request *request)
{
	request->call = call;
	rpc_call_set_on_cancel(call, on_cancel, session);
	switch (session_take(session, request)) {
	case SESSION_BUSY:
		fail_busy(call, session);
		break;
	case SESSION_CLOSED:
		rpc_call_fail(call, RPC_UNAVAILABLE, session_gone_text);
		break;
	}
}

static void handle_profile(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct session_request *request;
	struct diag d = DIAG_INIT;
	int r = request_decode(bytes, n, &request, &d);

	if (r)
		fail(call, r, &d);
	else
		start_session(context, call, request);
}

/* Always OK, also for an id that nobody knows; nothing is kept for a later session of that id. */
static void handle_terminate(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	Tensorflow__TerminateRequest *message =
		tensorflow__terminate_request__unpack(NULL, n, bytes);
	struct chunks empty = CHUNKS_INIT;

	if (!message) {
		rpc_call_fail(call, RPC_INVALID_ARGUMENT, "the request is not a TerminateRequest");
		return;
	}
	session_terminate(context, message->session_id);
	tensorflow__terminate_request__free_unpacked(message, NULL);
	rpc_call_reply(call, &empty);
}

const struct rpc_method service_methods[] = {
	{"/tensorflow.ProfilerService/Profile", MAX_REQUEST_BYTES, handle_profile, RPC_UNARY},
	{"/tensorflow.ProfilerService/Terminate", MAX_REQUEST_BYTES, handle_terminate, RPC_UNARY},
};
const size_t n_service_methods = sizeof service_methods / sizeof *service_methods;
