/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of programs; see gathering.h. Each call has a thread, an errand's, which asks and reads all of them. */
#include "daemon/host/gathering.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/diag.h"
#include "daemon/assembly/delivery.h"
#include "daemon/calls/errand.h"
#include "daemon/calls/fan_out_host.h"
#include "daemon/calls/fan_out_round.h"
#include "daemon/host/choice.h"
#include "daemon/host/host_calls.h"
#include "daemon/host/meant.h"
#include "daemon/host/programs.h"
#include "daemon/message/reply.h"
#include "daemon/message/reply_message.h"
#include "daemon/recording/capture.h"
#include "daemon/remote/disk_share.h"
#include "daemon/session/repository.h"
#include "rpc/client.h"
#include "rpc/server.h"
#include "trace/run_dir.h"
#include "trace/space.h"
#include "trace/xspace.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

/* In one answer. */
#define MAX_MEMBERS 64
/* Until when all have been asked, and are ready: where nobody says when to begin. */
#define START_NS (2 * CAPTURE_ARM_NS)
/* Of the answer, for what is said of those that failed. */
#define WARNINGS_BYTES (UINT64_C(64) << 10)

struct member {
	char label[96]; /* "train (4242)" */
	char file[REPLY_TOOL_NAME_BYTES];
};

struct gathering {
	struct errand *errand;
	Tensorflow__ProfileRequest
		request; /* what each is asked; borrows from what the client sent */
	Tensorflow__ProfileOptions options;
	struct disk_share share;
	size_t n;
	struct fan_out_host hosts[MAX_MEMBERS];
	struct member members[MAX_MEMBERS];
};

/* What each is asked. */

static void set_options(struct gathering *g, const Tensorflow__ProfileRequest *asked)
{
	Tensorflow__ProfileOptions *o = &g->options;

	tensorflow__profile_options__init(o);
	if (asked->opts)
		*o = *asked->opts;
	remote_capture_fill_options(o);
	if (!o->duration_ms)
		o->duration_ms = asked->duration_ms;
	/* It ends at once. */
	if (!o->duration_ms)
		o->duration_ms = 1;
	if (!o->session_id[0])
		o->session_id = asked->session_id;
	if (g->n > 1 && (int64_t)o->start_timestamp_ns < realtime_ns() + START_NS)
		o->start_timestamp_ns = (uint64_t)(realtime_ns() + START_NS);
	g->request = *asked;
	g->request.opts = o;
}

static void set_share(struct gathering *g)
{
	g->share.max_bytes =
		REPLY_MAX_XSPACE_BYTES - WARNINGS_BYTES - g->n * (REPLY_TOOL_NAME_BYTES + 32);
	g->share.whose = "what a stock client can take; record less, or use proftap capture";
}

/* HOSTNAME_NAME_PID.xplane.pb */
static void name_file(struct member *member, const struct program *program)
{
	char host[128];

	repository_name_host(host, sizeof host);
	snprintf(member->file, sizeof member->file, "%s_%.64s_%d.xplane.pb", host,
		program->status.name, (int)program->pid);
	run_dir_sanitise(member->file);
}

static void add(struct gathering *g, const struct program *program)
{
	struct host_service *h = (struct host_service *)g->errand->service;
	struct fan_out_host *host = &g->hosts[g->n];
	struct member *member = &g->members[g->n++];
	struct diag d = DIAG_INIT;

	snprintf(member->label, sizeof member->label, "%.64s (%d)", program->status.name,
		(int)program->pid);
	name_file(member, program);
	host->name = member->label;
	host->is_ours = 1;
	if (programs_connect(h->programs, program->id, &host->channel, &d))
		fan_out_host_fail(host, d.text);
}

static int refuse_number(struct errand *e, size_t n, int emit_xspace)
{
	if (n > MAX_MEMBERS)
		rpc_call_fail_with(e->call, RPC_INVALID_ARGUMENT,
			"%zu programs are meant, and %d can be recorded at a time; name fewer by "
			"ptap_target",
			n, MAX_MEMBERS);
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
	for (size_t i = 0; i < n; i++)
		add(g, chosen[i]);
	return 0;
}

/* Recording. 1 when the call was given up. */

static int record(struct gathering *g)
{
	int64_t end_ns = fan_out_round_find_end_ns(&g->request);
	struct fan_out_turn turn = {.stock = NULL};
	int is_cancelled = 0;

	for (size_t i = 0; i < g->n; i++)
		if (g->hosts[i].channel)
			fan_out_host_start(&g->hosts[i], &g->request, &g->share, end_ns);
	while (!is_cancelled && fan_out_round_poll(g->hosts, g->n, NULL, &turn))
		is_cancelled = errand_is_cancelled(g->errand);
	for (size_t i = 0; i < g->n; i++)
		fan_out_host_end(&g->hosts[i]);
	return is_cancelled;
}

/* The answer. */

static int has_trace(const struct fan_out_host *host)
{
	return host->trace && !host->error[0];
}

/* In the words of the first that failed: all did. */
static void fail(struct gathering *g)
{
	const struct fan_out_host *first = &g->hosts[0];
	int status = first->capture.status;

	if (status == RPC_ALREADY_EXISTS)
		reply_busy(g->errand->call, first->error);
	else
		rpc_call_fail(g->errand->call,
			status > RPC_OK && status <= RPC_UNAUTHENTICATED ? (enum rpc_status)status
									 : RPC_UNAVAILABLE,
			first->error);
}

static int make_warnings(const struct gathering *g, struct chunks *to)
{
	_cleanup_(space_freep) struct space *space = NULL;
	int r = space_new(&space);

	for (size_t i = 0; i < g->n && !r; i++)
		if (g->hosts[i].error[0])
			r = space_add_warning(space, "not recorded: %s", g->hosts[i].error);
	return r ? r : xspace_encode(space, to);
}

/* Messages of one kind, one behind the other, are one message. */
static void append_warnings(const struct gathering *g, struct delivery *to)
{
	struct chunks encoded = CHUNKS_INIT;
	struct delivery *part;

	if (make_warnings(g, &encoded))
		chunks_deinit(&encoded);
	else if (!delivery_new_from_chunks(&encoded, &part))
		delivery_append(to, part);
}

static struct delivery *steal_trace(struct fan_out_host *host)
{
	struct delivery *trace = host->trace;

	host->trace = NULL;
	return trace;
}

static void answer_one(struct gathering *g, struct fan_out_host *host, int emit_xspace)
{
	struct capture_result result = {.is_empty = host->is_empty};

	result.delivery = steal_trace(host);
	reply_profile(g->errand->call, &result, emit_xspace);
}

static void answer_many(struct gathering *g)
{
	_cleanup_free_ struct reply_tool *tools = calloc(g->n, sizeof *tools);
	size_t n = 0;

	if (!tools) {
		reply_no_memory(g->errand->call);
		return;
	}
	for (size_t i = 0; i < g->n; i++) {
		if (!has_trace(&g->hosts[i]) || g->hosts[i].is_empty)
			continue;
		snprintf(tools[n].name, sizeof tools[n].name, "%s", g->members[i].file);
		tools[n++].trace = steal_trace(&g->hosts[i]);
	}
	if (n)
		append_warnings(g, tools[0].trace);
	reply_profiles(g->errand->call, tools, n);
}

static void answer(struct gathering *g, int emit_xspace)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++)
		n += (size_t)has_trace(&g->hosts[i]);
	if (!n)
		fail(g);
	else if (g->n == 1)
		answer_one(g, &g->hosts[0], emit_xspace);
	else
		answer_many(g);
}

static void gather(struct errand *e, const struct meant *m, const Tensorflow__ProfileRequest *asked)
{
	struct gathering *g = calloc(1, sizeof *g);

	if (!g) {
		reply_no_memory(e->call);
		return;
	}
	g->errand = e;
	if (!add_all(g, m, asked->emit_xspace)) {
		set_options(g, asked);
		set_share(g);
		if (record(g))
			rpc_call_fail(e->call, RPC_CANCELLED, "the client went away");
		else
			answer(g, asked->emit_xspace);
	}
	for (size_t i = 0; i < g->n; i++)
		fan_out_host_deinit(&g->hosts[i]);
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

	errand_start(ERRAND_RECORDING, &h->service, call, bytes, n, work);
}
