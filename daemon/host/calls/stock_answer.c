/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profile and GetSnapshot of tensorflow.ProfilerService at the host daemon. The answer has the
 * traces of one or several programs, below 2 GiB. The trace of one program is "xplane.pb", or in
 * the field xspace, as in an answer of the program's own server; several programs are a tool_data
 * each, HOSTNAME_NAME_PID.xplane.pb. Each program is asked by proftap.v1, so that its trace goes to
 * a file without a name and is sent from there; a unary answer that is passed on would be in memory
 * as a whole.
 *
 * Threads: starts none; each call runs on the thread of its errand.
 */
#include "daemon/host/calls/host_calls.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "daemon/host/calls/audit.h"
#include "daemon/host/calls/call_target.h"
#include "daemon/host/calls/ensemble.h"
#include "daemon/host/calls/ledger.h"
#include "daemon/host/programs/choice.h"
#include "daemon/host/programs/programs.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/calls/errand.h"
#include "daemon/serve/message/reply.h"
#include "rpc/server.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

/*
 * Steps of an answer: add all programs; begin, which sets the limit and account; start the
 * ensemble; finish, which records and answers the call.
 */
struct stock_answer {
	struct errand *errand;
	struct ensemble ensemble;
	struct account account;
};

/* Room of the answer for warnings about programs that failed. */
#define WARNINGS_BYTES (UINT64_C(64) << 10)

static struct host_service *host_of(const struct stock_answer *s)
{
	return s->errand->context;
}

/* Returns NULL if there is no memory; then the call has been answered. */
static struct stock_answer *stock_answer_new(struct errand *e)
{
	struct stock_answer *s = calloc(1, sizeof *s);

	if (s)
		s->errand = e;
	else
		reply_no_memory(e->call);
	return s;
}

static void stock_answer_free(struct stock_answer *s)
{
	ensemble_deinit(&s->ensemble);
	free(s);
}

static void stock_answer_add(struct stock_answer *s, const struct program *program)
{
	audit_note_target(s->errand->call, program);
	ensemble_add(&s->ensemble, host_of(s)->programs, program);
}

static void stock_answer_begin(struct stock_answer *s, enum ledger_call call)
{
	struct ensemble *e = &s->ensemble;

	e->group.share.max_bytes =
		REPLY_MAX_XSPACE_BYTES - WARNINGS_BYTES - e->group.n * (REPLY_TOOL_NAME_BYTES + 32);
	e->group.share.whose = "what a stock client can take; record less, or use proftap capture";
	account_begin(&s->account, call, 0);
}

static bool is_cancelled(void *context)
{
	return errand_is_cancelled(context);
}

/* --- the answer ------------------------------------------------------------------------------- */

/* Answers with the first program's error, as all have failed. */
static void stock_answer_fail(struct stock_answer *s)
{
	const struct group_member *first = &s->ensemble.group.members[0];
	int status = first->capture.status;

	if (status == RPC_ALREADY_EXISTS)
		reply_busy(s->errand->call, first->error);
	else
		rpc_call_fail(s->errand->call,
			status > RPC_OK && status <= RPC_UNAUTHENTICATED ? (enum rpc_status)status
									 : RPC_UNAVAILABLE,
			first->error);
}

static void stock_answer_reply_one(struct stock_answer *s, bool emit_xspace)
{
	struct capture_result result = {.is_empty = s->ensemble.group.members[0].is_empty};

	ensemble_append_warnings(&s->ensemble, s->ensemble.group.members[0].trace);
	result.delivery = ensemble_steal_trace(&s->ensemble, 0);
	reply_profile(s->errand->call, &result, emit_xspace);
}

static void stock_answer_reply_many(struct stock_answer *s)
{
	struct ensemble *e = &s->ensemble;
	_cleanup_free_ struct reply_tool *tools = calloc(e->group.n, sizeof *tools);
	size_t n = 0;

	if (!tools) {
		reply_no_memory(s->errand->call);
		return;
	}
	for (size_t i = 0; i < e->group.n; i++) {
		if (!ensemble_has_trace(e, i) || e->group.members[i].is_empty)
			continue;
		snprintf(tools[n].name, sizeof tools[n].name, "%s.xplane.pb", e->programs[i].host);
		tools[n++].trace = ensemble_steal_trace(e, i);
	}
	if (n)
		ensemble_append_warnings(e, tools[0].trace);
	reply_profiles(s->errand->call, tools, n);
}

static void stock_answer_reply(struct stock_answer *s, bool emit_xspace)
{
	size_t n = 0;

	for (size_t i = 0; i < s->ensemble.group.n; i++)
		n += (size_t)ensemble_has_trace(&s->ensemble, i);
	ensemble_append_usage(&s->ensemble, host_of(s)->machine);
	if (!n)
		stock_answer_fail(s);
	else if (s->ensemble.group.n == 1)
		stock_answer_reply_one(s, emit_xspace);
	else
		stock_answer_reply_many(s);
}

static void fail_given_up_call(struct errand *e)
{
	if (errands_are_given_up(e->all))
		rpc_call_fail(e->call, RPC_UNAVAILABLE, host_ended_text);
	else
		rpc_call_fail(e->call, RPC_CANCELLED, "the client went away");
}

static void stock_answer_finish(struct stock_answer *s, bool emit_xspace)
{
	bool is_given_up = capture_group_record(&s->ensemble.group, is_cancelled, s->errand);

	capture_group_end(&s->ensemble.group);
	account_end_all(&s->account, host_of(s)->ledger, &s->ensemble, is_given_up);
	if (is_given_up)
		fail_given_up_call(s->errand);
	else
		stock_answer_reply(s, emit_xspace);
}

/* --- Profile ---------------------------------------------------------------------------------- */

/* Profile records all programs that the call selects (call_target.h), at the same time. */

static int profile_check_number(struct errand *e, size_t n, bool emit_xspace)
{
	if (n > CAPTURE_GROUP_MAX)
		rpc_call_fail_with(e->call, RPC_INVALID_ARGUMENT,
			"%zu programs are selected, and %d can be recorded at a time; name fewer "
			"by "
			"ptap_target",
			n, CAPTURE_GROUP_MAX);
	else if (emit_xspace && n > 1)
		rpc_call_fail_with(e->call, RPC_INVALID_ARGUMENT,
			"%zu programs are selected, and xspace has room for one; name one by "
			"ptap_target",
			n);
	else
		return 0;
	return -1;
}

/* 0, or -1: the call has been answered. */
static int profile_add_programs(
	struct stock_answer *answer, const struct call_target *target, bool emit_xspace)
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
	if (profile_check_number(answer->errand, n, emit_xspace))
		return -1;
	for (size_t i = 0; i < n; i++)
		stock_answer_add(answer, chosen[i]);
	return 0;
}

static void profile_programs(
	struct errand *e, const struct call_target *target, const Tensorflow__ProfileRequest *asked)
{
	struct stock_answer *answer = stock_answer_new(e);

	if (!answer)
		return;
	if (!profile_add_programs(answer, target, asked->emit_xspace)) {
		stock_answer_begin(answer, LEDGER_PROFILE);
		ensemble_start(&answer->ensemble, asked);
		stock_answer_finish(answer, asked->emit_xspace);
	}
	stock_answer_free(answer);
}

static void do_profile(struct errand *e)
{
	Tensorflow__ProfileRequest *asked;
	struct call_target target;

	if (call_target_find(&target, e))
		return;
	asked = tensorflow__profile_request__unpack(NULL, e->request_bytes, e->request);
	if (asked)
		profile_programs(e, &target, asked);
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
		errand_start(&h->errands, ERRAND_RECORDING, call, bytes, n, do_profile);
}

/* --- GetSnapshot ------------------------------------------------------------------------------ */

/*
 * GetSnapshot answers with the data of one program: the one that the call selects, or, if it names
 * none, the one where the caller's user began a session last. The data is that of the program's
 * continuous session, or else of its flight recorder. A request with a session's name is passed on,
 * because the program's server may write that snapshot to a file.
 */

static void snapshot_program(struct errand *e, const struct program *program)
{
	const struct remote_snapshot any = {0};
	struct stock_answer *answer = stock_answer_new(e);

	if (!answer)
		return;
	stock_answer_add(answer, program);
	stock_answer_begin(answer, LEDGER_SNAPSHOT);
	capture_group_start_snapshot(&answer->ensemble.group, &any);
	stock_answer_finish(answer, true);
	stock_answer_free(answer);
}

static void do_snapshot(struct errand *e)
{
	const struct program *chosen;
	struct call_target target;

	if (call_target_find(&target, e))
		return;
	chosen = call_target_choose(&target, e);
	if (chosen)
		snapshot_program(e, chosen);
	call_target_deinit(&target);
}

static bool snapshot_is_nameless(const uint8_t *bytes, size_t n)
{
	Tensorflow__GetSnapshotRequest *request =
		tensorflow__get_snapshot_request__unpack(NULL, n, bytes);
	bool is_nameless = request && !request->snapshot_session_id[0];

	if (request)
		tensorflow__get_snapshot_request__free_unpacked(request, NULL);
	return is_nameless;
}

void host_snapshot_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct host_service *h = context;

	if (!snapshot_is_nameless(bytes, n))
		passing_handle(call, bytes, n, context);
	else if (!host_admit(call, bytes, n, h))
		errand_start(&h->errands, ERRAND_PASSING, call, bytes, n, do_snapshot);
}

void host_snapshot_handle_old(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	(void)bytes;
	(void)n;
	host_snapshot_handle(call, (const uint8_t *)"", 0, context);
}
