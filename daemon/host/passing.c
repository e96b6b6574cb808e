/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that are passed on; see passing.h. Each has a thread, an errand's: it waits for the one side, then for the other. */
#include "daemon/host/passing.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/diag.h"
#include "daemon/calls/errand.h"
#include "daemon/host/caller.h"
#include "daemon/host/choice.h"
#include "daemon/host/host_calls.h"
#include "daemon/host/programs.h"
#include "daemon/message/reply_message.h"
#include "rpc/client.h"
#include "rpc/relay.h"
#include "rpc/server.h"

/* Between two looks whether the client is there still. */
#define TURN_MS 100
/* A client that takes nothing for so long is given up, as in any server of ours. */
#define WRITE_TIMEOUT_MS 60000
#define AUTHORITY "localhost"
/* A CaptureReply and some. */
#define MAX_MESSAGE_BYTES (2u << 20)

struct passage {
	struct errand *errand;
	const struct rpc_method *method;
	struct rpc_channel *channel;
	struct rpc_pending *call;
};

/* Whom it is for. */

static void refuse(struct rpc_call *call, const struct diag *d)
{
	rpc_call_fail(call, d->code == -EINVAL ? RPC_INVALID_ARGUMENT : RPC_NOT_FOUND, d->text);
}

/* The id of the program that |target| means, of those that the client may ask for; 0: answered. */
static uint64_t choose(struct errand *e, const char *target)
{
	struct host_service *h = (struct host_service *)e->service;
	struct diag d = DIAG_INIT;
	struct caller caller;
	struct program *programs;
	const struct program *chosen;
	uint64_t id = 0;
	size_t n;

	if (host_identify(e->call, h, &caller))
		return 0;
	if (programs_copy(h->programs, &caller, &programs, &n)) {
		reply_no_memory(e->call);
		return 0;
	}
	chosen = choice_make(programs, n, target, &d);
	if (chosen)
		id = chosen->id;
	else
		refuse(e->call, &d);
	free(programs);
	return id;
}

/* The way there. */

static int open_channel(struct passage *p, uint64_t id, struct diag *d)
{
	struct host_service *h = (struct host_service *)p->errand->service;
	int fd = programs_open_channel(h->programs, id);

	if (fd < 0)
		return diag_set(d, fd, "the program's server cannot be reached: %s",
			fd == -ESRCH ? "it has just ended" : errno_words(fd));
	return rpc_channel_new_narrow(fd, AUTHORITY, &p->channel, d);
}

static int is_stream(const struct passage *p)
{
	return p->method->kind == RPC_SERVER_STREAM;
}

static int start(struct passage *p, struct diag *d)
{
	int64_t deadline_ns = rpc_call_get_deadline_ns(p->errand->call);
	const struct rpc_request request = {
		.path = p->method->path,
		.message = p->errand->request,
		.message_bytes = p->errand->request_bytes,
		.timeout_ms = deadline_ns == INT64_MAX
				      ? -1
				      : (deadline_ns - monotonic_ns()) / NS_PER_MS + 1,
		.max_reply_bytes = is_stream(p) ? MAX_MESSAGE_BYTES : 0,
	};

	return is_stream(p) ? rpc_stream_start(p->channel, &request, &p->call, d)
			    : rpc_call_start(p->channel, &request, &p->call, d);
}

static void cancel_if_given_up(const struct passage *p)
{
	if (errand_is_cancelled(p->errand))
		rpc_pending_cancel(p->call);
}

/* The answer. */

static void pass_reply(struct passage *p)
{
	while (!rpc_pending_wait(p->call, TURN_MS))
		cancel_if_given_up(p);
	rpc_relay_reply(p->errand->call, p->call);
}

/* The next one is asked for when this one is gone: so there is one of each stream in memory. */
static int pass_message(struct passage *p)
{
	int r = rpc_relay_message(p->errand->call, p->call, WRITE_TIMEOUT_MS);

	return r ? r : rpc_call_flush(p->errand->call, WRITE_TIMEOUT_MS);
}

static void pass_messages(struct passage *p)
{
	int r = 0;

	while (!r && !rpc_pending_has_ended(p->call)) {
		if (!rpc_pending_next(p->call, TURN_MS))
			cancel_if_given_up(p);
		else
			r = pass_message(p);
	}
	if (r)
		rpc_call_finish(p->errand->call, RPC_UNAVAILABLE, "the answer was not taken");
	else
		rpc_relay_end(p->errand->call, p->call);
}

static void pass(struct passage *p)
{
	if (is_stream(p))
		pass_messages(p);
	else
		pass_reply(p);
}

static void work(struct errand *e)
{
	struct passage p = {.errand = e, .method = rpc_call_get_method(e->call)};
	struct diag d = DIAG_INIT;
	char target[RPC_TARGET_BYTES];
	uint64_t id;

	rpc_call_get_target(e->call, target, sizeof target);
	id = choose(e, target);
	if (!id)
		return;
	if (open_channel(&p, id, &d) || start(&p, &d))
		rpc_call_fail(e->call, RPC_UNAVAILABLE, d.text);
	else
		pass(&p);
	rpc_pending_free(p.call);
	rpc_channel_free(p.channel);
}

void passing_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct host_service *h = context;

	errand_start(ERRAND_PASSING, &h->service, call, bytes, n, work);
}
