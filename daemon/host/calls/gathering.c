/* SPDX-License-Identifier: Apache-2.0 */
/* Traces for stock clients; see gathering.h. */
#include "daemon/host/calls/gathering.h"

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

/* Of the answer, for what is said of those that failed. */
#define WARNINGS_BYTES (UINT64_C(64) << 10)

static struct host_service *host_of(const struct gathering *g)
{
	return g->errand->context;
}

/* Whom. */

struct gathering *gathering_new(struct errand *e)
{
	struct gathering *g = calloc(1, sizeof *g);

	if (g)
		g->errand = e;
	else
		reply_no_memory(e->call);
	return g;
}

void gathering_free(struct gathering *g)
{
	ensemble_deinit(&g->ensemble);
	free(g);
}

void gathering_add(struct gathering *g, const struct program *program)
{
	audit_note_target(g->errand->call, program);
	ensemble_add(&g->ensemble, host_of(g)->programs, program);
}

void gathering_begin(struct gathering *g, enum ledger_call call)
{
	struct ensemble *e = &g->ensemble;

	e->group.share.max_bytes =
		REPLY_MAX_XSPACE_BYTES - WARNINGS_BYTES - e->group.n * (REPLY_TOOL_NAME_BYTES + 32);
	e->group.share.whose = "what a stock client can take; record less, or use proftap capture";
	account_begin(&g->account, call, 0);
}

static int is_cancelled(void *context)
{
	return errand_is_cancelled(context);
}

/* The answer. */

/* In the words of the first that failed: all did. */
static void fail(struct gathering *g)
{
	const struct group_member *first = &g->ensemble.group.members[0];
	int status = first->capture.status;

	if (status == RPC_ALREADY_EXISTS)
		reply_busy(g->errand->call, first->error);
	else
		rpc_call_fail(g->errand->call,
			status > RPC_OK && status <= RPC_UNAUTHENTICATED ? (enum rpc_status)status
									 : RPC_UNAVAILABLE,
			first->error);
}

static void answer_one(struct gathering *g, int emit_xspace)
{
	struct capture_result result = {.is_empty = g->ensemble.group.members[0].is_empty};

	ensemble_append_warnings(&g->ensemble, g->ensemble.group.members[0].trace);
	result.delivery = ensemble_steal_trace(&g->ensemble, 0);
	reply_profile(g->errand->call, &result, emit_xspace);
}

static void answer_many(struct gathering *g)
{
	struct ensemble *e = &g->ensemble;
	_cleanup_free_ struct reply_tool *tools = calloc(e->group.n, sizeof *tools);
	size_t n = 0;

	if (!tools) {
		reply_no_memory(g->errand->call);
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
	reply_profiles(g->errand->call, tools, n);
}

static void answer(struct gathering *g, int emit_xspace)
{
	size_t n = 0;

	for (size_t i = 0; i < g->ensemble.group.n; i++)
		n += (size_t)ensemble_has_trace(&g->ensemble, i);
	ensemble_append_usage(&g->ensemble, host_of(g)->machine);
	if (!n)
		fail(g);
	else if (g->ensemble.group.n == 1)
		answer_one(g, emit_xspace);
	else
		answer_many(g);
}

static void fail_given_up(struct errand *e)
{
	if (errands_are_given_up(e->all))
		rpc_call_fail(e->call, RPC_UNAVAILABLE, host_ended_text);
	else
		rpc_call_fail(e->call, RPC_CANCELLED, "the client went away");
}

void gathering_finish(struct gathering *g, int emit_xspace)
{
	int is_given_up = capture_group_record(&g->ensemble.group, is_cancelled, g->errand);

	capture_group_end(&g->ensemble.group);
	account_end_all(&g->account, host_of(g)->ledger, &g->ensemble, is_given_up);
	if (is_given_up)
		fail_given_up(g->errand);
	else
		answer(g, emit_xspace);
}
