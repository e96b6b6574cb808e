/* SPDX-License-Identifier: Apache-2.0 */
/* The host daemon's methods; see host_calls.h. */
#include "daemon/host/calls/host_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "daemon/host/calls/audit.h"
#include "daemon/host/calls/host_handlers.h"
#include "daemon/host/calls/host_method.h"
#include "daemon/host/programs/caller.h"
#include "daemon/host/programs/choice.h"
#include "daemon/host/programs/programs.h"
#include "daemon/kernel/proc_file.h"
#include "daemon/serve/calls/methods.h"
#include "daemon/serve/message/reply_message.h"
#include "daemon/serve/message/target_message.h"
#include "rpc/server.h"

/* Programs that are stopped do not answer, and are listed all the same. */
#define ANSWER_MS 300

int host_identify(struct rpc_call *call, const struct host_service *h, struct caller *caller)
{
	int r = caller_identify(caller, rpc_call_get_connection(call), h->operators);

	if (r)
		rpc_call_fail(call, RPC_PERMISSION_DENIED,
			"the kernel does not know which user this connection is of");
	return r;
}

const char host_ended_text[] =
	"the host daemon was told to end, and this did not end within its stop_limit_s; the program "
	"goes on: ask again when the daemon is back";

int host_admit(struct rpc_call *call, const uint8_t *bytes, size_t n, struct host_service *h)
{
	unsigned traits = host_method_of(call)->traits;

	audit_begin(call, bytes, n);
	if (!(traits & HOST_METHOD_BEGINS) || !atomic_load(&h->is_ending))
		return 0;
	rpc_call_fail(call, RPC_UNAVAILABLE, "the host daemon is ending; ask again in a moment");
	return -1;
}

static void answer_list(struct rpc_call *call, const struct program *programs, size_t n)
{
	Proftap__V1__ListReply reply = PROFTAP__V1__LIST_REPLY__INIT;
	struct target_message *targets = calloc(n + 1, sizeof *targets);
	Proftap__V1__Target **messages = calloc(n + 1, sizeof *messages);

	for (size_t i = 0; targets && messages && i < n; i++) {
		target_message_describe(&targets[i], &programs[i].status);
		targets[i].message.pid = programs[i].pid;
		targets[i].message.uid = programs[i].uid;
		if (programs[i].status.make[0])
			targets[i].message.is_stopped = proc_is_stopped(programs[i].pid);
		target_message_place(&targets[i], &programs[i].container);
		target_message_link(&targets[i]);
		messages[i] = &targets[i].message;
	}
	reply.n_targets = n;
	reply.targets = messages;
	if (targets && messages)
		reply_message(call, &reply.base);
	else
		reply_no_memory(call);
	free(targets);
	free(messages);
}

/*
 * Returns the program that the caller looks for, "" for any; the caller frees it. NULL: no memory,
 * or no ListRequest.
 */
static char *copy_target(const struct errand *e)
{
	Proftap__V1__ListRequest *request =
		proftap__v1__list_request__unpack(NULL, e->request_bytes, e->request);
	char *target = request ? strdup(request->target) : NULL;

	if (request)
		proftap__v1__list_request__free_unpacked(request, NULL);
	return target;
}

/*
 * A client that does not find its target here goes no further: this is all that is heard of the
 * attempt.
 */
static void audit_attempt(const struct errand *e, const struct program *programs, size_t n)
{
	_cleanup_free_ char *targets = copy_target(e);
	_cleanup_free_ const struct program **chosen = calloc(n + 1, sizeof *chosen);
	char *rest = targets && targets[0] ? targets : NULL;
	struct diag d = DIAG_INIT;
	char *word;

	while (chosen && (word = strsep(&rest, ",")))
		if (!choice_make_all(programs, n, word, chosen, &d))
			audit_note_refusal(e->call, d.text);
}

static void list(struct errand *e)
{
	struct host_service *h = e->context;
	struct caller caller;
	struct program *programs;
	size_t n;

	if (host_identify(e->call, h, &caller))
		return;
	if (programs_list(h->programs, &caller, ANSWER_MS, &programs, &n)) {
		reply_no_memory(e->call);
		return;
	}
	audit_attempt(e, programs, n);
	answer_list(e->call, programs, n);
	free(programs);
}

static void handle_list(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct host_service *h = context;

	if (!host_admit(call, bytes, n, h))
		errand_start(&h->errands, ERRAND_FILES, call, bytes, n, list);
}

const struct rpc_method host_methods[] = {
	METHODS_OF_PROBES,
	{METHODS_PROFILER "ContinuousProfiling", METHODS_MAX_REQUEST_BYTES, passing_handle,
		RPC_UNARY},
	{METHODS_PROFILER "GetSnapShot", METHODS_MAX_REQUEST_BYTES, host_snapshot_handle_old,
		RPC_UNARY},
	{METHODS_PROFILER "GetSnapshot", METHODS_MAX_REQUEST_BYTES, host_snapshot_handle,
		RPC_UNARY},
	{METHODS_PROFILER "Monitor", METHODS_MAX_REQUEST_BYTES, passing_handle, RPC_UNARY},
	{METHODS_PROFILER "Profile", METHODS_MAX_REQUEST_BYTES, host_profile_handle, RPC_UNARY},
	{METHODS_PROFILER "StartContinuousProfiling", METHODS_MAX_REQUEST_BYTES, passing_handle,
		RPC_UNARY},
	{METHODS_PROFILER "StopContinuousProfiling", METHODS_MAX_REQUEST_BYTES, passing_handle,
		RPC_UNARY},
	{METHODS_PROFILER "Terminate", METHODS_MAX_REQUEST_BYTES, terminating_handle, RPC_UNARY},
	{METHODS_V1 "Capture", METHODS_MAX_REQUEST_BYTES, passing_handle, RPC_SERVER_STREAM},
	{METHODS_V1 "List", METHODS_MAX_REQUEST_BYTES, handle_list, RPC_UNARY},
	{METHODS_V1 "OpenSpans", METHODS_MAX_REQUEST_BYTES, passing_handle, RPC_UNARY},
	{METHODS_V1 "Snapshot", METHODS_MAX_REQUEST_BYTES, passing_handle, RPC_SERVER_STREAM},
	{METHODS_V1 "Start", METHODS_MAX_REQUEST_BYTES, passing_handle, RPC_UNARY},
	{METHODS_V1 "Status", METHODS_MAX_REQUEST_BYTES, passing_handle, RPC_UNARY},
	{METHODS_V1 "Stop", METHODS_MAX_REQUEST_BYTES, passing_handle, RPC_SERVER_STREAM},
};
const size_t n_host_methods = sizeof host_methods / sizeof *host_methods;
