/* SPDX-License-Identifier: Apache-2.0 */
/* Calls about sessions; see session_call.h. */
#include "daemon/host/web/session_call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "daemon/host/programs/program_channel.h"
#include "daemon/host/programs/programs.h"
#include "daemon/host/web/session_order.h"
#include "proftap/v1/profiler.pb-c.h"
#include "proto/options_message.h"
#include "proto/pack.h"
#include "rpc/client.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

#define START "/proftap.v1.Profiler/Start"
#define STOP "/proftap.v1.Profiler/Stop"
#define STOCK "/tensorflow.ProfilerService/"
#define PATIENCE_MS 5000
#define MAX_REPLY_BYTES 4096

static int fail_memory(struct diag *d)
{
	diag_set(d, -ENOMEM, "the host daemon is out of memory");
	return RPC_RESOURCE_EXHAUSTED;
}

/* Waits for the end of the call. The only message of a stream is a trailer that nobody wants. */
static void await_end(struct rpc_pending *call)
{
	while (!rpc_pending_wait(call, -1))
		;
}

typedef int starter(struct rpc_channel *channel, const struct rpc_request *request,
	struct rpc_pending **out, struct diag *d);

/*
 * Makes a call and waits for its end. 0, and *out is the caller's (rpc_pending_free); or a gRPC
 * status with |d|.
 */
static int ask(struct rpc_channel *channel, starter *start, const char *path,
	const ProtobufCMessage *message, struct rpc_pending **out, struct diag *d)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	struct rpc_request request = {
		.path = path, .timeout_ms = PATIENCE_MS, .max_reply_bytes = MAX_REPLY_BYTES};

	if (proto_pack(message, &bytes, &request.message_bytes))
		return fail_memory(d);
	request.message = bytes;
	if (start(channel, &request, out, d))
		return RPC_UNAVAILABLE;
	await_end(*out);
	return program_channel_get_status(*out, d);
}

static int call(struct programs *programs, uint64_t id, starter *start, const char *path,
	const ProtobufCMessage *message, struct rpc_pending **out, struct diag *d)
{
	struct rpc_channel *channel;
	int r = program_channel_open(programs, id, &channel, d);

	if (r)
		return r == -ESRCH ? RPC_NOT_FOUND : RPC_UNAVAILABLE;
	r = ask(channel, start, path, message, out, d);
	rpc_channel_free(channel);
	return r;
}

static int read_name(
	struct rpc_pending *answer, char name[static SESSION_CALL_NAME_BYTES], struct diag *d)
{
	uint8_t bytes[MAX_REPLY_BYTES];
	Proftap__V1__StartReply *reply = NULL;
	size_t n;

	if (!rpc_pending_copy(answer, bytes, sizeof bytes, &n))
		reply = proftap__v1__start_reply__unpack(NULL, n, bytes);
	if (!reply) {
		diag_set(d, -EBADMSG, "what the program's server answered cannot be understood");
		return RPC_INTERNAL;
	}
	snprintf(name, SESSION_CALL_NAME_BYTES, "%s", reply->session_id);
	proftap__v1__start_reply__free_unpacked(reply, NULL);
	return 0;
}

/* JAX's and TensorFlow's servers, which have one session without a name. */

static int refuse_stock(const struct session_order *order, const struct program *p, struct diag *d)
{
	if (order->is_recorder || strcmp(order->asked.session, "recorder") == 0)
		diag_set(d, -EOPNOTSUPP,
			"%.64s (%d): %s's profiler server has no flight recorder; begin a session, or "
			"record a duration",
			p->status.name, (int)p->pid, p->status.make);
	else if (order->asked.session[0])
		diag_set(d, -EOPNOTSUPP,
			"%.64s (%d): %s's profiler server has no names for sessions; leave session out",
			p->status.name, (int)p->pid, p->status.make);
	else
		return 0;
	return RPC_UNIMPLEMENTED;
}

static int begin_stock(struct programs *programs, const struct session_order *order, struct diag *d)
{
	static const char *const paths[] = {
		STOCK "StartContinuousProfiling", STOCK "ContinuousProfiling"};
	Tensorflow__ProfileRequest message = TENSORFLOW__PROFILE_REQUEST__INIT;
	struct options_message options;
	int r = options_message_init(&options, &order->asked.options, NULL) ? fail_memory(d) : 0;
	int status = RPC_UNIMPLEMENTED;

	message.opts = &options.message;
	message.emit_xspace = 1;
	for (size_t i = 0; !r && status == RPC_UNIMPLEMENTED && i < 2; i++) {
		struct rpc_pending *answer = NULL;

		status = call(programs, order->target, rpc_call_start, paths[i], &message.base,
			&answer, d);
		rpc_pending_free(answer);
	}
	options_message_deinit(&options);
	return r ? r : status;
}

static int give_up_stock(
	struct programs *programs, const struct session_order *order, struct diag *d)
{
	Tensorflow__StopContinuousProfilingRequest message =
		TENSORFLOW__STOP_CONTINUOUS_PROFILING_REQUEST__INIT;
	struct rpc_pending *answer = NULL;
	int r = call(programs, order->target, rpc_call_start, STOCK "StopContinuousProfiling",
		&message.base, &answer, d);

	rpc_pending_free(answer);
	return r;
}

/* All servers. */

int session_call_begin(struct programs *programs, const struct session_order *order,
	const struct program *p, char name[static SESSION_CALL_NAME_BYTES], struct diag *d)
{
	Proftap__V1__StartRequest message = PROFTAP__V1__START_REQUEST__INIT;
	struct options_message options;
	struct rpc_pending *answer = NULL;
	int r;

	if (p->stock_address[0]) {
		name[0] = '\0';
		r = refuse_stock(order, p, d);
		return r ? r : begin_stock(programs, order, d);
	}
	r = options_message_init(&options, &order->asked.options, NULL);
	options.message.session_id = (char *)order->asked.session;
	message.options = &options.message;
	message.recorder = order->is_recorder;
	r = r ? fail_memory(d)
	      : call(programs, order->target, rpc_call_start, START, &message.base, &answer, d);
	if (!r)
		r = read_name(answer, name, d);
	rpc_pending_free(answer);
	options_message_deinit(&options);
	return r;
}

int session_call_give_up(struct programs *programs, const struct session_order *order,
	const struct program *p, struct diag *d)
{
	Proftap__V1__StopRequest message = PROFTAP__V1__STOP_REQUEST__INIT;
	struct rpc_pending *answer = NULL;
	int r;

	if (p->stock_address[0]) {
		r = refuse_stock(order, p, d);
		return r ? r : give_up_stock(programs, order, d);
	}
	message.session_id = (char *)order->asked.session;
	message.discard = 1;
	r = call(programs, order->target, rpc_stream_start, STOP, &message.base, &answer, d);
	rpc_pending_free(answer);
	return r;
}
