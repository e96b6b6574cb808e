/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that are passed on to the server of the program that they select (call_target.h): the
 * request unchanged, and each message of the answer in the slices in which it comes (rpc/call.h).
 * Each call has the thread of its errand, which waits for one side and then for the other.
 */

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/chunks.h"
#include "base/clock.h"
#include "base/diag.h"
#include "daemon/host/calls/appending.h"
#include "daemon/host/calls/audit.h"
#include "daemon/host/calls/call_target.h"
#include "daemon/host/calls/host_calls.h"
#include "daemon/host/calls/ledger.h"
#include "daemon/host/programs/caller.h"
#include "daemon/host/programs/program_channel.h"
#include "daemon/host/programs/programs.h"
#include "daemon/serve/calls/errand.h"
#include "daemon/serve/calls/methods.h"
#include "daemon/serve/message/reply.h"
#include "daemon/serve/message/target_message.h"
#include "daemon/serve/message/trace_part.h"
#include "proftap/v1/profiler.pb-c.h"
#include "rpc/call.h"
#include "rpc/client.h"
#include "rpc/server.h"

/* Time between two checks that the client is still connected. */
#define TURN_MS 100
/* A client that reads nothing for this time is given up, as in a program's own server. */
#define WRITE_TIMEOUT_MS 60000
/* Large enough for any CaptureReply. */
#define MAX_MESSAGE_BYTES (2u << 20)

static const char left_text[] = "the client went away";

struct passage {
	struct errand *errand;
	const struct rpc_method *method;
	uint64_t id; /* of the program */
	/* A copy of the program if its server is of another make; else the address is empty. */
	struct program stock;
	struct caller caller;
	struct rpc_channel *channel;
	struct rpc_pending *call;
	struct appending appending; /* of a stream */
	struct account account; /* of a stream: each is a recording */
};

/* --- the program ------------------------------------------------------------------------------ */

static void note_chosen(struct passage *p, const struct program *chosen)
{
	audit_note_target(p->errand->call, chosen);
	p->id = chosen->id;
	if (chosen->stock_address[0])
		p->stock = *chosen;
	account_begin(&p->account, host_method_of(p->errand->call)->ledger, p->id);
}

/* 0, or -1: the call has been answered, and may be gone. */
static int passage_choose_program(struct passage *p)
{
	struct call_target target;
	const struct program *chosen;

	if (call_target_find(&target, p->errand))
		return -1;
	p->caller = target.caller;
	chosen = call_target_choose(&target, p->errand);
	if (chosen)
		note_chosen(p, chosen);
	call_target_deinit(&target);
	return chosen ? 0 : -1;
}

/* --- programs whose server knows only the stock calls ----------------------------------------- */

/* Answers Status itself: the daemon knows pid and name, and the clock is this machine's. */
static void answer_status(struct passage *p)
{
	Proftap__V1__StatusReply reply = PROFTAP__V1__STATUS_REPLY__INIT;
	struct target_message target;

	target_message_describe(&target, &p->stock.status);
	target_message_place(&target, &p->stock.container);
	target_message_link(&target);
	reply.target = &target.message;
	reply.unix_ns = (uint64_t)realtime_ns();
	reply.monotonic_ns = (uint64_t)monotonic_ns();
	reply_message(p->errand->call, &reply.base);
}

/* Returns true if the call has been answered. */
static bool answer_for_stock(struct passage *p)
{
	const char *path = p->method->path;

	if (!p->stock.stock_address[0] || strncmp(path, METHODS_V1, sizeof METHODS_V1 - 1) != 0)
		return false;
	if (strcmp(path, METHODS_V1 "Status") == 0)
		answer_status(p);
	else
		rpc_call_fail_with(p->errand->call, RPC_UNIMPLEMENTED,
			"%.64s (%d): its profiler server is %s's, which knows the stock calls alone: %s",
			p->stock.status.name, (int)p->stock.pid, p->stock.status.make,
			strcmp(path, METHODS_V1 "OpenSpans") == 0
				? "it does not report open spans"
				: "Profile, and StartContinuousProfiling and what belongs to it");
	return true;
}

/* --- the call to the program's server --------------------------------------------------------- */

static struct host_service *host_of(const struct passage *p)
{
	return p->errand->context;
}

static int open_channel(struct passage *p, struct diag *d)
{
	unsigned n_streams = errands_count_kind(p->errand->all, ERRAND_PASSING);
	char word[TRACE_PART_WORD_BYTES];
	int r = program_channel_open(host_of(p)->programs, p->id, &p->channel, d);

	if (r)
		return r;
	trace_part_write_word(n_streams, word);
	rpc_channel_set_target(p->channel, word);
	return 0;
}

static bool passage_is_stream(const struct passage *p)
{
	return p->method->kind == RPC_SERVER_STREAM;
}

static int passage_start_call(struct passage *p, struct diag *d)
{
	int64_t deadline_ns = rpc_call_get_deadline_ns(p->errand->call);
	const struct rpc_request request = {
		.path = p->method->path,
		.message = p->errand->request,
		.message_bytes = p->errand->request_bytes,
		.timeout_ms = deadline_ns == INT64_MAX
				      ? -1
				      : (deadline_ns - monotonic_ns()) / NS_PER_MS + 1,
		.max_reply_bytes = passage_is_stream(p) ? MAX_MESSAGE_BYTES : 0,
	};

	return passage_is_stream(p) ? rpc_stream_start(p->channel, &request, &p->call, d)
				    : rpc_call_start(p->channel, &request, &p->call, d);
}

static void cancel_if_given_up(const struct passage *p)
{
	if (errand_is_cancelled(p->errand))
		rpc_pending_cancel(p->call);
}

/* --- the answer ------------------------------------------------------------------------------- */

static bool passage_begins_session(const struct passage *p)
{
	return (host_method_of(p->errand->call)->traits & HOST_METHOD_BEGINS_SESSION) != 0;
}

/*
 * Returns true if the call did not end in time when the daemon was told to end. A call that has
 * ended at the last moment is complete.
 */
static bool passage_was_cut(struct passage *p)
{
	return errands_are_given_up(p->errand->all) && rpc_pending_get_status(p->call) != RPC_OK;
}

/*
 * Returns true if the call was cancelled here because its client went away. The gRPC status alone
 * does not show who cancelled it.
 */
static bool passage_was_left(struct passage *p)
{
	return errand_is_cancelled(p->errand) && rpc_pending_get_status(p->call) == RPC_CANCELLED;
}

static void pass_reply(struct passage *p)
{
	while (!rpc_pending_wait(p->call, TURN_MS))
		cancel_if_given_up(p);
	if (passage_begins_session(p) && rpc_pending_get_status(p->call) == RPC_OK)
		programs_note_begun(host_of(p)->programs, p->id, p->caller.uid);
	if (passage_was_cut(p))
		rpc_call_fail(p->errand->call, RPC_UNAVAILABLE, host_ended_text);
	else if (passage_was_left(p))
		rpc_call_fail(p->errand->call, RPC_CANCELLED, left_text);
	else
		rpc_relay_reply(p->errand->call, p->call);
}

static int send_instead(struct passage *p)
{
	struct chunks message = CHUNKS_INIT;
	int r = 0;

	while (!r && appending_next(&p->appending, &message))
		r = rpc_call_write(p->errand->call, &message, WRITE_TIMEOUT_MS);
	return r;
}

/*
 * Sends the message after the previous one has been sent. Meanwhile the next one arrives, so that
 * two messages of each stream are in memory.
 */
static int pass_message(struct passage *p)
{
	account_read_message(&p->account, p->call);
	return appending_read_message(&p->appending, p->call)
		       ? send_instead(p)
		       : rpc_relay_message(p->errand->call, p->call, WRITE_TIMEOUT_MS);
}

static void pass_messages(struct passage *p)
{
	int r = 0;

	appending_init(&p->appending, host_of(p)->machine);
	while (!r && !rpc_pending_has_ended(p->call)) {
		if (!rpc_pending_next(p->call, TURN_MS))
			cancel_if_given_up(p);
		else
			r = pass_message(p);
	}
	account_end(&p->account, host_of(p)->ledger,
		r ? RPC_CANCELLED : rpc_pending_get_status(p->call));
	if (r == -ECANCELED)
		rpc_call_finish(p->errand->call, RPC_CANCELLED, left_text);
	else if (r)
		rpc_call_finish(p->errand->call, RPC_UNAVAILABLE, "the client stopped reading");
	else if (passage_was_cut(p))
		rpc_call_finish(p->errand->call, RPC_UNAVAILABLE, host_ended_text);
	else if (passage_was_left(p))
		rpc_call_finish(p->errand->call, RPC_CANCELLED, left_text);
	else
		rpc_relay_end(p->errand->call, p->call);
}

static void passage_pass(struct passage *p)
{
	if (passage_is_stream(p))
		pass_messages(p);
	else
		pass_reply(p);
}

static void passage_fail(struct passage *p, const char *text)
{
	if (passage_is_stream(p))
		account_end(&p->account, host_of(p)->ledger, RPC_UNAVAILABLE);
	rpc_call_fail(p->errand->call, RPC_UNAVAILABLE, text);
}

static void pass_call(struct errand *e)
{
	struct passage p = {.errand = e, .method = rpc_call_get_method(e->call)};
	struct diag d = DIAG_INIT;

	if (passage_choose_program(&p) || answer_for_stock(&p))
		return;
	/*
	 * Sends the head, which identifies a host daemon. A client that loses the connection during
	 * a recording can then say what it lost.
	 */
	if (passage_is_stream(&p))
		rpc_call_begin(e->call);
	if (open_channel(&p, &d) || passage_start_call(&p, &d))
		passage_fail(&p, d.text);
	else
		passage_pass(&p);
	appending_deinit(&p.appending);
	rpc_pending_free(p.call);
	rpc_channel_free(p.channel);
}

void passing_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct host_service *h = context;

	if (!host_admit(call, bytes, n, h))
		errand_start(&h->errands, ERRAND_PASSING, call, bytes, n, pass_call);
}
