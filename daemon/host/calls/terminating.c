/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terminate of tensorflow.ProfilerService at the host daemon. The request names a session and no
 * program, so that it goes to all programs that the call may select (call_target.h). The answer is
 * always OK, even for a session that does not exist.
 */

#include <stdbool.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "daemon/host/calls/audit.h"
#include "daemon/host/calls/call_target.h"
#include "daemon/host/calls/host_calls.h"
#include "daemon/host/programs/choice.h"
#include "daemon/host/programs/program_channel.h"
#include "daemon/host/programs/programs.h"
#include "daemon/serve/calls/errand.h"
#include "daemon/serve/message/reply.h"
#include "rpc/client.h"
#include "rpc/server.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

/* A running server answers at once, and a stopped one delays the others only for this time. */
#define PATIENCE_MS 2000
/* The limit of connections that are open at a time. */
#define AT_A_TIME 64

struct terminate_call {
	struct rpc_channel *channel;
	struct rpc_pending *call;
};

static void terminate_ask(struct errand *e, const struct program *program, struct terminate_call *a)
{
	struct host_service *h = e->context;
	const struct rpc_request request = {
		.path = rpc_call_get_method(e->call)->path,
		.message = e->request,
		.message_bytes = e->request_bytes,
		.timeout_ms = PATIENCE_MS,
	};
	struct diag d = DIAG_INIT;

	/* A program that has just ended has no session, so errors do not matter. */
	if (!program_channel_open(h->programs, program->id, &a->channel, &d))
		rpc_call_start(a->channel, &request, &a->call, &d);
}

static void terminate_ask_some(struct errand *e, const struct program *const *programs, size_t n)
{
	struct terminate_call asked[AT_A_TIME] = {{NULL, NULL}};

	for (size_t i = 0; i < n; i++)
		terminate_ask(e, programs[i], &asked[i]);
	for (size_t i = 0; i < n; i++) {
		if (asked[i].call)
			rpc_pending_wait(asked[i].call, 2 * PATIENCE_MS);
		rpc_pending_free(asked[i].call);
		rpc_channel_free(asked[i].channel);
	}
}

static void terminate_ask_all(struct errand *e, const struct program *const *programs, size_t n)
{
	for (size_t i = 0; i < n && !errand_is_cancelled(e); i += AT_A_TIME)
		terminate_ask_some(e, programs + i, n - i < AT_A_TIME ? n - i : AT_A_TIME);
}

static bool is_readable(const struct errand *e)
{
	Tensorflow__TerminateRequest *message =
		tensorflow__terminate_request__unpack(NULL, e->request_bytes, e->request);

	if (message)
		tensorflow__terminate_request__free_unpacked(message, NULL);
	return message != NULL;
}

static void terminate_at_programs(struct errand *e, const struct call_target *target)
{
	_cleanup_free_ const struct program **chosen =
		calloc(target->n_programs + 1, sizeof *chosen);
	struct diag d = DIAG_INIT;
	size_t n;

	if (!chosen) {
		reply_no_memory(e->call);
		return;
	}
	n = choice_make_all(target->programs, target->n_programs, target->text, chosen, &d);
	for (size_t i = 0; i < n; i++)
		audit_note_target(e->call, chosen[i]);
	if (!n)
		audit_note_refusal(e->call, d.text);
	terminate_ask_all(e, chosen, n);
	reply_empty(e->call);
}

static void do_terminate(struct errand *e)
{
	struct call_target target;

	if (!is_readable(e)) {
		rpc_call_fail(
			e->call, RPC_INVALID_ARGUMENT, "the request is not a TerminateRequest");
		return;
	}
	if (call_target_find(&target, e))
		return;
	terminate_at_programs(e, &target);
	call_target_deinit(&target);
}

void terminating_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct host_service *h = context;

	if (!host_admit(call, bytes, n, h))
		errand_start(&h->errands, ERRAND_PASSING, call, bytes, n, do_terminate);
}
