/* SPDX-License-Identifier: Apache-2.0 */
/* The methods of the host daemon; see host_calls.h. */
#include "daemon/host/calls/host_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "daemon/host/calls/audit.h"
#include "daemon/host/programs/caller.h"
#include "daemon/host/programs/choice.h"
#include "daemon/host/programs/programs.h"
#include "daemon/kernel/proc_file.h"
#include "daemon/serve/calls/methods.h"
#include "daemon/serve/message/reply.h"
#include "daemon/serve/message/target_message.h"
#include "proftap/v1/profiler.pb-c.h"
#include "rpc/server.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

/* Stopped programs do not answer within this time, and are listed all the same. */
#define ANSWER_MS 300

int host_identify(struct rpc_call *call, const struct host_service *h, struct caller *caller)
{
	int r = caller_identify(caller, rpc_call_get_connection(call), h->operators);

	if (r)
		rpc_call_fail(call, RPC_PERMISSION_DENIED,
			"the kernel does not know the user of this connection");
	return r;
}

const char host_ended_text[] =
	"the host daemon was told to end, and this call did not end within stop_limit_s; the "
	"program still runs: ask again when the daemon is back";

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
 * Returns a copy of the target in the request, "" for any, which the caller frees. NULL: memory ran
 * out, or the request is no ListRequest.
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
 * A client that does not find its target in the list makes no further call, so the refusal is noted
 * here.
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

static void list_programs(struct errand *e)
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
		errand_start(&h->errands, ERRAND_FILES, call, bytes, n, list_programs);
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

/* --- requests, traits and accounts ------------------------------------------------------------ */

#define SESSION (HOST_METHOD_BEGINS | HOST_METHOD_BEGINS_SESSION)
#define ABOUT HOST_METHOD_IS_ABOUT_SESSION

#define PROFILE_REQUEST &tensorflow__profile_request__descriptor

static const struct host_method methods[] = {
	{.path = METHODS_PROFILER "ContinuousProfiling",
		.request = PROFILE_REQUEST,
		.traits = SESSION},
	{.path = METHODS_PROFILER "GetSnapShot", .traits = ABOUT},
	{.path = METHODS_PROFILER "GetSnapshot", .traits = ABOUT},
	{.path = METHODS_PROFILER "Monitor",
		.request = &tensorflow__monitor_request__descriptor,
		.traits = HOST_METHOD_BEGINS},
	{.path = METHODS_PROFILER "Profile",
		.request = PROFILE_REQUEST,
		.traits = HOST_METHOD_BEGINS,
		.ledger = LEDGER_PROFILE},
	{.path = METHODS_PROFILER "StartContinuousProfiling",
		.request = PROFILE_REQUEST,
		.traits = SESSION},
	{.path = METHODS_PROFILER "StopContinuousProfiling", .traits = ABOUT},
	{.path = METHODS_PROFILER "Terminate",
		.request = &tensorflow__terminate_request__descriptor},
	{.path = METHODS_V1 "Capture",
		.request = &proftap__v1__capture_request__descriptor,
		.traits = HOST_METHOD_BEGINS,
		.ledger = LEDGER_CAPTURE},
	{.path = METHODS_V1 "List",
		.request = &proftap__v1__list_request__descriptor,
		.traits = HOST_METHOD_READS},
	/* The answer has arguments of spans, as a capture has, so it is audited. */
	{.path = METHODS_V1 "OpenSpans"},
	{.path = METHODS_V1 "Snapshot",
		.request = &proftap__v1__snapshot_request__descriptor,
		.ledger = LEDGER_SNAPSHOT},
	{.path = METHODS_V1 "Start",
		.request = &proftap__v1__start_request__descriptor,
		.traits = HOST_METHOD_BEGINS},
	{.path = METHODS_V1 "Status", .traits = HOST_METHOD_READS},
	{.path = METHODS_V1 "Stop",
		.request = &proftap__v1__stop_request__descriptor,
		.ledger = LEDGER_STOP},
};

/* The row of all other methods, such as health probes. */
static const struct host_method other_method = {.path = ""};

const struct host_method *host_method_of(const struct rpc_call *call)
{
	const char *path = rpc_call_get_method(call)->path;

	for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
		if (strcmp(path, methods[i].path) == 0)
			return &methods[i];
	return &other_method;
}

bool host_method_has_options(const struct host_method *m)
{
	return m->request == PROFILE_REQUEST;
}
