/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profile of tensorflow.ProfilerService at the host daemon: records all programs that the call
 * selects (call_target.h), at one instant, and answers with their traces (stock_answer.h). Each
 * call has a thread, an errand's.
 */
#include "daemon/host/calls/host_handlers.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "daemon/host/calls/call_target.h"
#include "daemon/host/calls/host_calls.h"
#include "daemon/host/calls/stock_answer.h"
#include "daemon/host/programs/choice.h"
#include "daemon/host/programs/programs.h"
#include "daemon/serve/calls/errand.h"
#include "daemon/serve/message/reply_message.h"
#include "rpc/server.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

static int refuse_number(struct errand *e, size_t n, int emit_xspace)
{
	if (n > CAPTURE_GROUP_MAX)
		rpc_call_fail_with(e->call, RPC_INVALID_ARGUMENT,
			"%zu programs are meant, and %d can be recorded at a time; name fewer by "
			"ptap_target",
			n, CAPTURE_GROUP_MAX);
	else if (emit_xspace && n > 1)
		rpc_call_fail_with(e->call, RPC_INVALID_ARGUMENT,
			"%zu programs are meant, and xspace has room for one; name one by "
			"ptap_target",
			n);
	else
		return 0;
	return -1;
}

/* 0, or -1: the call has been answered. */
static int add_programs(
	struct stock_answer *answer, const struct call_target *target, int emit_xspace)
{
	_cleanup_free_ const struct program **chosen =
		calloc(target->n_programs + 1, sizeof *chosen);
	struct diag d = DIAG_INIT;
	size_t n;

	if (!chosen) {
		reply_no_memory(answer->errand->call);
		return -1;
	}
	n = choice_make_all(target->programs, target->n_programs, target->text, chosen, &d);
	if (!n) {
		rpc_call_fail(answer->errand->call, RPC_NOT_FOUND, d.text);
		return -1;
	}
	if (refuse_number(answer->errand, n, emit_xspace))
		return -1;
	for (size_t i = 0; i < n; i++)
		stock_answer_add(answer, chosen[i]);
	return 0;
}

static void record(
	struct errand *e, const struct call_target *target, const Tensorflow__ProfileRequest *asked)
{
	struct stock_answer *answer = stock_answer_new(e);

	if (!answer)
		return;
	if (!add_programs(answer, target, asked->emit_xspace)) {
		stock_answer_begin(answer, LEDGER_PROFILE);
		ensemble_start(&answer->ensemble, asked);
		stock_answer_finish(answer, asked->emit_xspace);
	}
	stock_answer_free(answer);
}

static void work(struct errand *e)
{
	Tensorflow__ProfileRequest *asked;
	struct call_target target;

	if (call_target_find(&target, e))
		return;
	asked = tensorflow__profile_request__unpack(NULL, e->request_bytes, e->request);
	if (asked)
		record(e, &target, asked);
	else
		rpc_call_fail(e->call, RPC_INVALID_ARGUMENT, "the request is not a ProfileRequest");
	if (asked)
		tensorflow__profile_request__free_unpacked(asked, NULL);
	call_target_deinit(&target);
}

void host_profile_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct host_service *h = context;

	if (!host_admit(call, bytes, n, h))
		errand_start(&h->errands, ERRAND_RECORDING, call, bytes, n, work);
}
