/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routes that begin and discard sessions of a program; see web_routes.h. The data of a session is
 * read by a capture instead (|is_snapshot| in web_capture.h).
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/diag.h"
#include "daemon/host/calls/audit.h"
#include "daemon/host/calls/host_calls.h"
#include "daemon/host/programs/program_channel.h"
#include "daemon/host/programs/programs.h"
#include "daemon/host/web/api_answer.h"
#include "daemon/host/web/deferred.h"
#include "daemon/host/web/json_text.h"
#include "daemon/host/web/web.h"
#include "daemon/host/web/web_audit.h"
#include "daemon/host/web/web_capture.h"
#include "daemon/host/web/web_routes.h"
#include "http/exchange.h"
#include "proftap/v1/profiler.pb-c.h"
#include "proto/options_message.h"
#include "proto/pack.h"
#include "rpc/client.h"
#include "rpc/server.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

#define MAX_SESSION_NAME_BYTES 128 /* of the name that the program's server returns */

/* A request to begin a session or a flight recorder, or to end one and discard its data. */
struct session_order {
	uint64_t target; /* the program's id in its struct program */
	struct web_capture asked; /* only |session| and the options are used */
	bool is_recorder;
};

/* --- the order -------------------------------------------------------------------------------- */

struct order_member {
	const char *name;
	int (*take)(struct session_order *o, const json_t *value, struct diag *d);
};

static int take_name(struct session_order *o, const json_t *value, struct diag *d)
{
	size_t n = json_is_string(value) ? json_string_length(value) : 0;

	if (n == 0 || n >= sizeof o->asked.session)
		return diag_set(d, -EINVAL, "session: must be a text of 1 to %zu bytes",
			sizeof o->asked.session - 1);
	memcpy(o->asked.session, json_string_value(value), n + 1);
	return 0;
}

static int take_recorder(struct session_order *o, const json_t *value, struct diag *d)
{
	if (!json_is_boolean(value))
		return diag_set(d, -EINVAL, "recorder: must be true or false");
	o->is_recorder = json_is_true(value);
	return 0;
}

static int take_options(struct session_order *o, const json_t *value, struct diag *d)
{
	return web_capture_take_options(&o->asked, value, d);
}

static const struct order_member order_members[] = {
	{"session", take_name},
	{"recorder", take_recorder},
	{"options", take_options},
};

static int take_member(void *context, const char *name, const json_t *value, struct diag *d)
{
	struct session_order *o = context;

	for (size_t i = 0; i < sizeof order_members / sizeof *order_members; i++)
		if (strcmp(order_members[i].name, name) == 0)
			return order_members[i].take(o, value, d);
	return diag_set(
		d, -EINVAL, "%.64s: no such member; there are session, recorder and options", name);
}

static int check_order(const void *context, const json_t *body, struct diag *d)
{
	const struct session_order *o = context;
	const struct profile_options *options = &o->asked.options;

	(void)body;
	if (options->delay_ms || options->start_timestamp_ns)
		return diag_set(d, -EINVAL,
			"options: delay_ms, start_timestamp_ns: a session begins at once");
	if (!o->is_recorder)
		return profile_options_check_recording(options, d);
	if (o->asked.session[0])
		return diag_set(d, -EINVAL,
			"session: a flight recorder has no other name than \"recorder\"");
	return profile_options_check_recorder(options, d);
}

/* Parses the body. 0; -EINVAL with |d|; -ENOMEM. Call session_order_free() in any case. */
static int session_order_parse(struct session_order *o, const char *text, size_t n, struct diag *d)
{
	static const struct json_body_steps steps = {take_member, check_order};
	int r = web_capture_init(&o->asked);

	return r ? r : json_body_read(text, n, &steps, o, d);
}

static void session_order_free(void *order)
{
	struct session_order *o = order;

	if (o)
		web_capture_deinit(&o->asked);
	free(o);
}

/* --- calls to the program's server ------------------------------------------------------------ */

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

/* Waits for the end of the call. Ignores the trailer, the only message in the stream of a Stop. */
static void await_end(struct rpc_pending *call)
{
	while (!rpc_pending_wait(call, -1))
		;
}

typedef int call_starter(struct rpc_channel *channel, const struct rpc_request *request,
	struct rpc_pending **out, struct diag *d);

/*
 * Makes a call and waits for its end. 0, and *out is the caller's (rpc_pending_free); or a gRPC
 * status with |d|.
 */
static int call_and_wait(struct rpc_channel *channel, call_starter *start, const char *path,
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

static int call_program(struct programs *programs, uint64_t id, call_starter *start,
	const char *path, const ProtobufCMessage *message, struct rpc_pending **out, struct diag *d)
{
	struct rpc_channel *channel;
	int r = program_channel_open(programs, id, &channel, d);

	if (r)
		return r == -ESRCH ? RPC_NOT_FOUND : RPC_UNAVAILABLE;
	r = call_and_wait(channel, start, path, message, out, d);
	rpc_channel_free(channel);
	return r;
}

static int read_name(
	struct rpc_pending *answer, char name[static MAX_SESSION_NAME_BYTES], struct diag *d)
{
	uint8_t bytes[MAX_REPLY_BYTES];
	Proftap__V1__StartReply *reply = NULL;
	size_t n;

	if (!rpc_pending_copy(answer, bytes, sizeof bytes, &n))
		reply = proftap__v1__start_reply__unpack(NULL, n, bytes);
	if (!reply) {
		diag_set(d, -EBADMSG, "the answer of the program's server cannot be understood");
		return RPC_INTERNAL;
	}
	snprintf(name, MAX_SESSION_NAME_BYTES, "%s", reply->session_id);
	proftap__v1__start_reply__free_unpacked(reply, NULL);
	return 0;
}

/* --- servers of JAX and TensorFlow, which have one session without a name --------------------- */

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

		status = call_program(programs, order->target, rpc_call_start, paths[i],
			&message.base, &answer, d);
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
	int r = call_program(programs, order->target, rpc_call_start,
		STOCK "StopContinuousProfiling", &message.base, &answer, d);

	rpc_pending_free(answer);
	return r;
}

/* --- calls of all servers --------------------------------------------------------------------- */

/*
 * Begins a session in |p|, the order's target. |name| becomes the session's name, "" if the server
 * has no names. Waits for the answer some seconds at most, like session_order_give_up(). 0, or a
 * gRPC status with |d|, in the server's words.
 */
static int session_order_begin(struct programs *programs, const struct session_order *order,
	const struct program *p, char name[static MAX_SESSION_NAME_BYTES], struct diag *d)
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
	      : call_program(
			programs, order->target, rpc_call_start, START, &message.base, &answer, d);
	if (!r)
		r = read_name(answer, name, d);
	rpc_pending_free(answer);
	options_message_deinit(&options);
	return r;
}

/* Ends the session and discards its data. */
static int session_order_give_up(struct programs *programs, const struct session_order *order,
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
	r = call_program(
		programs, order->target, rpc_stream_start, STOP, &message.base, &answer, d);
	rpc_pending_free(answer);
	return r;
}

/* --- routes ----------------------------------------------------------------------------------- */

/* A call to a stopped server blocks one of libuv's four threads; this limit keeps two free. */
#define MAX_AT_A_TIME 2

static void write_audit(const struct deferred *d, const struct program *p, const char *what,
	int status, int64_t begun_ns)
{
	const struct session_order *o = d->order.what;
	struct audit a = {.what = what,
		.caller = d->caller,
		.is_caller_known = true,
		.begun_ns = begun_ns,
		.result = rpc_status_name(status),
		.reason = d->diag.text};

	audit_add_target(&a, p);
	snprintf(a.options, sizeof a.options, "session=%s recorder=%s%s%s", o->asked.session,
		o->is_recorder ? "true" : "false", web_capture_has_options(&o->asked) ? " " : "",
		web_capture_has_options(&o->asked) ? o->asked.options_text : "");
	audit_write(&a);
}

static int begin_session(struct deferred *d, const struct program *p)
{
	const struct session_order *o = d->order.what;
	char name[MAX_SESSION_NAME_BYTES];
	int r = session_order_begin(d->web->host->programs, o, p, name, &d->diag);

	if (r)
		return r;
	json_uint(&d->text.json, "id", p->id);
	json_int(&d->text.json, "pid", p->pid);
	json_text(&d->text.json, "session", name);
	json_texts(&d->text.json, "warnings", o->asked.warnings, (uint32_t)o->asked.n_warnings);
	return 0;
}

static int give_up_session(struct deferred *d, const struct program *p)
{
	return session_order_give_up(d->web->host->programs, d->order.what, p, &d->diag);
}

static int do_order(struct deferred *d, const char *what,
	int (*work)(struct deferred *d, const struct program *p))
{
	const struct session_order *o = d->order.what;
	_Atomic unsigned *n = &d->web->api.n_session_calls;
	int64_t begun_ns = monotonic_ns();
	struct program p = {0};
	int r = deferred_find_program(d, o->target, &p);

	if (!r && atomic_fetch_add(n, 1) >= MAX_AT_A_TIME) {
		diag_set(&d->diag, -EAGAIN, "%d programs are asked at a time; wait a little",
			MAX_AT_A_TIME);
		r = RPC_RESOURCE_EXHAUSTED;
		atomic_fetch_sub(n, 1);
	} else if (!r) {
		r = work(d, &p);
		atomic_fetch_sub(n, 1);
	}
	write_audit(d, &p, what, r, begun_ns);
	return r;
}

static int work_begin(struct deferred *d)
{
	return do_order(d, "WebStart", begin_session);
}

static int work_give_up(struct deferred *d)
{
	return do_order(d, "WebGiveUp", give_up_session);
}

static void start_order(struct http_exchange *x, struct web *w, int (*work)(struct deferred *d),
	struct session_order *o, bool has_text)
{
	const struct deferred_order order = {o, session_order_free};

	deferred_start_order(x, w, work, order, has_text);
}

static struct session_order *new_order(const struct http_exchange *x)
{
	struct session_order *o = calloc(1, sizeof *o);

	if (o)
		o->target = api_parse_id(http_get_param(x, "id"));
	return o;
}

static void refuse_order(struct http_exchange *x, int error, const struct diag *d)
{
	if (error == -ENOMEM) {
		api_refuse_memory(x);
		return;
	}
	web_audit_refused(x, rpc_status_name(RPC_INVALID_ARGUMENT), d->text);
	api_refuse(x, RPC_INVALID_ARGUMENT, d, NULL);
}

void api_begin_session(struct http_exchange *x, void *context)
{
	struct session_order *o = new_order(x);
	struct diag d = DIAG_INIT;
	size_t n;
	const char *body = http_get_body(x, &n);
	int r = o ? session_order_parse(o, n ? body : "{}", n ? n : 2, &d) : -ENOMEM;

	if (!r) {
		start_order(x, context, work_begin, o, 1);
		return;
	}
	session_order_free(o);
	refuse_order(x, r, &d);
}

/* The name "" selects the session that runs, or else the recorder. */
static int order_set_name(struct session_order *o, const char *name, struct diag *d)
{
	int r = web_capture_init(&o->asked);

	if (r)
		return r;
	if (snprintf(o->asked.session, sizeof o->asked.session, "%s", name ? name : "") >=
		(int)sizeof o->asked.session)
		return diag_set(d, -EINVAL, "session: must be a text of 1 to %zu bytes",
			sizeof o->asked.session - 1);
	return 0;
}

void api_give_up_session(struct http_exchange *x, void *context)
{
	struct session_order *o = new_order(x);
	struct diag d = DIAG_INIT;
	int r = o ? order_set_name(o, http_get_query(x, "session"), &d) : -ENOMEM;

	if (!r) {
		start_order(x, context, work_give_up, o, 0);
		return;
	}
	session_order_free(o);
	refuse_order(x, r, &d);
}
