/* SPDX-License-Identifier: Apache-2.0 */
/* Traces for stock clients; see stock_answer.h. */
#include "daemon/host/calls/stock_answer.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "daemon/host/calls/audit.h"
#include "daemon/host/calls/host_calls.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/calls/errand.h"
#include "daemon/serve/message/reply.h"
#include "daemon/serve/message/reply_message.h"
#include "rpc/server.h"

/* The share of the answer that is kept for warnings about programs that failed. */
#define WARNINGS_BYTES (UINT64_C(64) << 10)

static struct host_service *host_of(const struct stock_answer *s)
{
	return s->errand->context;
}

struct stock_answer *stock_answer_new(struct errand *e)
{
	struct stock_answer *s = calloc(1, sizeof *s);

	if (s)
		s->errand = e;
	else
		reply_no_memory(e->call);
	return s;
}

void stock_answer_free(struct stock_answer *s)
{
	ensemble_deinit(&s->ensemble);
	free(s);
}

void stock_answer_add(struct stock_answer *s, const struct program *program)
{
	audit_note_target(s->errand->call, program);
	ensemble_add(&s->ensemble, host_of(s)->programs, program);
}

void stock_answer_begin(struct stock_answer *s, enum ledger_call call)
{
	struct ensemble *e = &s->ensemble;

	e->group.share.max_bytes =
		REPLY_MAX_XSPACE_BYTES - WARNINGS_BYTES - e->group.n * (REPLY_TOOL_NAME_BYTES + 32);
	e->group.share.whose = "what a stock client can take; record less, or use proftap capture";
	account_begin(&s->account, call, 0);
}

static int is_cancelled(void *context)
{
	return errand_is_cancelled(context);
}

/* The answer. */

/* Answers with the first program's error, as all have failed. */
static void fail(struct stock_answer *s)
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

static void answer_one(struct stock_answer *s, int emit_xspace)
{
	struct capture_result result = {.is_empty = s->ensemble.group.members[0].is_empty};

	ensemble_append_warnings(&s->ensemble, s->ensemble.group.members[0].trace);
	result.delivery = ensemble_steal_trace(&s->ensemble, 0);
	reply_profile(s->errand->call, &result, emit_xspace);
}

static void answer_many(struct stock_answer *s)
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

static void answer(struct stock_answer *s, int emit_xspace)
{
	size_t n = 0;

	for (size_t i = 0; i < s->ensemble.group.n; i++)
		n += (size_t)ensemble_has_trace(&s->ensemble, i);
	ensemble_append_usage(&s->ensemble, host_of(s)->machine);
	if (!n)
		fail(s);
	else if (s->ensemble.group.n == 1)
		answer_one(s, emit_xspace);
	else
		answer_many(s);
}

static void fail_given_up(struct errand *e)
{
	if (errands_are_given_up(e->all))
		rpc_call_fail(e->call, RPC_UNAVAILABLE, host_ended_text);
	else
		rpc_call_fail(e->call, RPC_CANCELLED, "the client went away");
}

void stock_answer_finish(struct stock_answer *s, int emit_xspace)
{
	int is_given_up = capture_group_record(&s->ensemble.group, is_cancelled, s->errand);

	capture_group_end(&s->ensemble.group);
	account_end_all(&s->account, host_of(s)->ledger, &s->ensemble, is_given_up);
	if (is_given_up)
		fail_given_up(s->errand);
	else
		answer(s, emit_xspace);
}
