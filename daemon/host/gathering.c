/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of programs; see gathering.h. Each call has a thread, an errand's, which asks and reads all of them. */
#include "daemon/host/gathering.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "daemon/calls/errand.h"
#include "daemon/host/account.h"
#include "daemon/host/audit.h"
#include "daemon/host/choice.h"
#include "daemon/host/ensemble.h"
#include "daemon/host/host_calls.h"
#include "daemon/host/meant.h"
#include "daemon/host/programs.h"
#include "daemon/message/reply.h"
#include "daemon/message/reply_message.h"
#include "daemon/recording/capture.h"
#include "rpc/server.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

/* Of the answer, for what is said of those that failed. */
#define WARNINGS_BYTES (UINT64_C(64) << 10)

struct gathering {
	struct errand *errand;
	struct ensemble ensemble;
};

static struct host_service *host_of(const struct gathering *g)
{
	return (struct host_service *)g->errand->service;
}

/* What each is asked. */

static void set_share(struct ensemble *e)
{
	e->share.max_bytes =
		REPLY_MAX_XSPACE_BYTES - WARNINGS_BYTES - e->n * (REPLY_TOOL_NAME_BYTES + 32);
	e->share.whose = "what a stock client can take; record less, or use proftap capture";
}

static int refuse_number(struct errand *e, size_t n, int emit_xspace)
{
	if (n > ENSEMBLE_MAX)
		rpc_call_fail_with(e->call, RPC_INVALID_ARGUMENT,
			"%zu programs are meant, and %d can be recorded at a time; name fewer by "
			"ptap_target",
			n, ENSEMBLE_MAX);
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
static int add_all(struct gathering *g, const struct meant *m, int emit_xspace)
{
	_cleanup_free_ const struct program **chosen = calloc(m->n_programs + 1, sizeof *chosen);
	struct diag d = DIAG_INIT;
	size_t n;

	if (!chosen) {
		reply_no_memory(g->errand->call);
		return -1;
	}
	n = choice_make_all(m->programs, m->n_programs, m->text, chosen, &d);
	if (!n) {
		rpc_call_fail(g->errand->call, RPC_NOT_FOUND, d.text);
		return -1;
	}
	if (refuse_number(g->errand, n, emit_xspace))
		return -1;
	for (size_t i = 0; i < n; i++) {
		audit_note_target(g->errand->call, chosen[i]);
		ensemble_add(&g->ensemble, host_of(g)->programs, chosen[i]);
	}
	return 0;
}

/* Recording. 1 when the call was given up. */

static int record(struct gathering *g, const Tensorflow__ProfileRequest *asked)
{
	int is_cancelled = 0;

	ensemble_start(&g->ensemble, asked);
	while (!is_cancelled && ensemble_poll(&g->ensemble))
		is_cancelled = errand_is_cancelled(g->errand);
	ensemble_end(&g->ensemble);
	return is_cancelled;
}

/* The answer. */

/* In the words of the first that failed: all did. */
static void fail(struct gathering *g)
{
	const struct fan_out_host *first = &g->ensemble.hosts[0];
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
	struct capture_result result = {.is_empty = g->ensemble.hosts[0].is_empty};

	ensemble_append_warnings(&g->ensemble, g->ensemble.hosts[0].trace);
	result.delivery = ensemble_steal_trace(&g->ensemble, 0);
	reply_profile(g->errand->call, &result, emit_xspace);
}

static void answer_many(struct gathering *g)
{
	struct ensemble *e = &g->ensemble;
	_cleanup_free_ struct reply_tool *tools = calloc(e->n, sizeof *tools);
	size_t n = 0;

	if (!tools) {
		reply_no_memory(g->errand->call);
		return;
	}
	for (size_t i = 0; i < e->n; i++) {
		if (!ensemble_has_trace(e, i) || e->hosts[i].is_empty)
			continue;
		snprintf(tools[n].name, sizeof tools[n].name, "%s.xplane.pb", e->members[i].host);
		tools[n++].trace = ensemble_steal_trace(e, i);
	}
	if (n)
		ensemble_append_warnings(e, tools[0].trace);
	reply_profiles(g->errand->call, tools, n);
}

static void answer(struct gathering *g, int emit_xspace)
{
	const struct host_service *h = (struct host_service *)g->errand->service;
	size_t n = 0;

	for (size_t i = 0; i < g->ensemble.n; i++)
		n += (size_t)ensemble_has_trace(&g->ensemble, i);
	ensemble_append_usage(&g->ensemble, h->machine);
	if (!n)
		fail(g);
	else if (g->ensemble.n == 1)
		answer_one(g, emit_xspace);
	else
		answer_many(g);
}

static void fail_given_up(struct errand *e)
{
	if (errands_are_given_up(&e->service->errands))
		rpc_call_fail(e->call, RPC_UNAVAILABLE, host_ended_text);
	else
		rpc_call_fail(e->call, RPC_CANCELLED, "the client went away");
}

static void gather(struct errand *e, const struct meant *m, const Tensorflow__ProfileRequest *asked)
{
	struct gathering *g = calloc(1, sizeof *g);
	struct account asked_by;
	int is_cancelled;

	if (!g) {
		reply_no_memory(e->call);
		return;
	}
	g->errand = e;
	if (!add_all(g, m, asked->emit_xspace)) {
		set_share(&g->ensemble);
		account_begin(&asked_by, LEDGER_PROFILE, 0);
		is_cancelled = record(g, asked);
		account_end_all(&asked_by, host_of(g)->ledger, &g->ensemble, is_cancelled);
		if (is_cancelled)
			fail_given_up(e);
		else
			answer(g, asked->emit_xspace);
	}
	ensemble_deinit(&g->ensemble);
	free(g);
}

static void work(struct errand *e)
{
	Tensorflow__ProfileRequest *asked;
	struct meant meant;

	if (meant_find(&meant, e))
		return;
	asked = tensorflow__profile_request__unpack(NULL, e->request_bytes, e->request);
	if (asked)
		gather(e, &meant, asked);
	else
		rpc_call_fail(e->call, RPC_INVALID_ARGUMENT, "the request is not a ProfileRequest");
	if (asked)
		tensorflow__profile_request__free_unpacked(asked, NULL);
	meant_deinit(&meant);
}

void gathering_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct host_service *h = context;

	if (!host_admit(call, bytes, n, h))
		errand_start(ERRAND_RECORDING, &h->service, call, bytes, n, work);
}
