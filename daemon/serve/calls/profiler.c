/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of proftap.v1.Profiler: Capture, Start, Snapshot and Stop record; Status and List
 * describe the server and its processes. OpenSpans is open_spans_call.c.
 */
#include "daemon/serve/calls/service.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/grow.h"
#include "base/printable.h"
#include "base/status.h"
#include "daemon/kernel/headroom.h"
#include "daemon/kernel/identity.h"
#include "daemon/kernel/proc_file.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/calls/continuous_session.h"
#include "daemon/serve/calls/errand.h"
#include "daemon/serve/calls/subprocesses.h"
#include "daemon/serve/children/registry.h"
#include "daemon/serve/message/reply.h"
#include "daemon/serve/message/request.h"
#include "daemon/serve/message/target_message.h"
#include "daemon/serve/message/trace_part.h"
#include "daemon/serve/message/trace_stream.h"
#include "daemon/serve/session/session.h"
#include "daemon/serve/session/session_request.h"
#include "daemon/target/family.h"
#include "proftap/v1/profiler.pb-c.h"
#include "rpc/server.h"

/* --- streams -------------------------------------------------------------------------------- */

static void cancel_session(struct rpc_call *call, void *session)
{
	session_cancel(session, call);
}

/* The |deliver| of requests that are answered as a stream. */
static void request_stream_deliver(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	trace_stream_end(request->context, r, result, d);
}

static void fail_stream(struct rpc_call *call, int r)
{
	struct diag d = DIAG_INIT;

	if (r == -EUSERS)
		rpc_call_fail(call, RPC_RESOURCE_EXHAUSTED,
			"too many traces wait for slow readers; try again later");
	else
		reply_v1_failure(call,
			diag_set(&d, r, "no thread to deliver the trace: %s", errno_words(r)), &d);
}

/*
 * Makes the stream that carries the outcome of |request| to |call|, with progress every
 * |interval_ms| (0: none). On failure answers |call|, frees |request| and returns NULL. The caller
 * decides what a client that goes away means for the session.
 */
static struct trace_stream *request_stream_prepare(struct trace_streams *streams,
	struct rpc_call *call, struct session_request *request, uint32_t interval_ms)
{
	const struct trace_stream_config config = {
		.place = {streams,
			capture_find_wait_ns(request->capture.options.start_timestamp_ns) > 0},
		.interval_ms = interval_ms,
		.idle_ms = TRACE_STREAM_IDLE_MS,
	};
	struct trace_stream *stream = NULL;
	int r = trace_stream_new(call, &config, &stream);

	if (r) {
		session_request_free(request);
		fail_stream(call, r);
		return NULL;
	}
	request->call = call;
	request->deliver = request_stream_deliver;
	request->context = stream;
	request->progress = trace_stream_get_progress(stream);
	return stream;
}

/*
 * Does the same as request_stream_prepare(). If the client goes away, |request| is cancelled, and
 * so is a recording that the request began.
 */
static struct trace_stream *request_stream_open(struct session *session,
	struct trace_streams *streams, struct rpc_call *call, struct session_request *request,
	uint32_t interval_ms)
{
	struct trace_stream *stream = request_stream_prepare(streams, call, request, interval_ms);

	if (stream)
		rpc_call_set_on_cancel(call, cancel_session, session);
	return stream;
}

/* Starts |stream|, or answers |call| with |r|, the session's refusal of the request. */
static void request_stream_start(
	struct session *session, struct rpc_call *call, struct trace_stream *stream, int r)
{
	if (!r) {
		trace_stream_start(stream);
		return;
	}
	trace_stream_abandon(stream);
	reply_v1_refusal(call, session, r);
}

/* --- Capture -------------------------------------------------------------------------------- */

/* 0 or -1: the call was answered. */
static int decode_capture(struct rpc_call *call, const uint8_t *bytes, size_t n,
	struct session_request **out, uint32_t *interval_ms)
{
	struct diag d = DIAG_INIT;
	int r = request_decode_capture(bytes, n, out, interval_ms, &d);

	if (!r && request_warn_of_host_options(*out, call)) {
		*out = session_request_free(*out);
		r = -ENOMEM;
	}
	if (r)
		reply_v1_failure(call, r, &d);
	return r ? -1 : 0;
}

/* Does the work of profiler_handle_capture() on a thread of its own. */
static void capture_tree(struct errand *e)
{
	const struct service *service = e->context;
	const struct subprocesses_config config = {e, service->session, service->registry};
	struct session_request *request;
	struct trace_stream *stream;
	struct subprocesses *tree;
	uint32_t interval_ms;
	int r;

	if (decode_capture(e->call, e->request, e->request_bytes, &request, &interval_ms))
		return;
	stream = request_stream_prepare(service->streams, e->call, request, interval_ms);
	if (!stream)
		return;
	r = subprocesses_take(&config, request, &tree);
	request_stream_start(service->session, e->call, stream, r);
	if (!r)
		subprocesses_record(tree);
}

void profiler_handle_capture(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct service *service = context;
	struct session_request *request;
	struct trace_stream *stream;
	uint32_t interval_ms;

	if (decode_capture(call, bytes, n, &request, &interval_ms))
		return;
	if (subprocesses_are_wanted(request)) {
		session_request_free(request);
		errand_start(service->errands, ERRAND_RECORDING, call, bytes, n, capture_tree);
		return;
	}
	stream =
		request_stream_open(service->session, service->streams, call, request, interval_ms);
	if (stream)
		request_stream_start(
			service->session, call, stream, session_take(service->session, request));
}

/* --- continuous sessions and the flight recorder -------------------------------------------- */

static void reply_started(struct session_request *request, struct rpc_call *call)
{
	Proftap__V1__StartReply reply = PROFTAP__V1__START_REPLY__INIT;

	reply.session_id = request->session_id;
	reply_message(call, &reply.base);
}

/* The |deliver| of a session that did not begin. */
static void deliver_failure(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	delivery_free(result->delivery);
	reply_v1_failure(request->call, r ? r : CAPTURE_CANCELLED, d);
}

void profiler_handle_start(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct service *service = context;
	struct session_request *request;
	struct diag d = DIAG_INIT;
	bool for_recorder = false;
	int r = request_decode_start(bytes, n, &request, &for_recorder, &d);

	if (r) {
		reply_v1_failure(call, r, &d);
		return;
	}
	request->call = call;
	request->begin = reply_started;
	request->deliver = deliver_failure;
	r = for_recorder ? recorder_call_start(service->session, request)
			 : session_start_continuous(service->session, request);
	if (r)
		reply_v1_refusal(call, service->session, r);
}

/* A request for the data of a session. NULL: out of memory, and the call was answered. */
static struct session_request *new_request(struct rpc_call *call)
{
	struct session_request *request = calloc(1, sizeof *request);

	if (request)
		profile_options_init(&request->capture.options);
	else
		reply_v1_failure(call, -ENOMEM, NULL);
	return request;
}

/* CAPTURE_NO_TARGET: the session, but perhaps not the program, ended before it served |request|. */
static void deliver_snapshot(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	if (r == CAPTURE_NO_TARGET)
		r = diag_set(d, -ENOENT, "the session has ended");
	request_stream_deliver(request, r, result, d);
}

static void take_snapshot(
	struct service *service, struct rpc_call *call, const Proftap__V1__SnapshotRequest *m)
{
	struct session_request *request = new_request(call);
	struct trace_stream *stream =
		request ? request_stream_open(service->session, service->streams, call, request, 0)
			: NULL;

	if (!stream)
		return;
	request->deliver = deliver_snapshot;
	request->last_ms = m->last_ms;
	request->keeps = m->keep;
	request_stream_start(service->session, call, stream,
		recorder_call_snapshot(service->session, m->session_id, request));
}

void profiler_handle_snapshot(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	Proftap__V1__SnapshotRequest *message =
		proftap__v1__snapshot_request__unpack(NULL, n, bytes);

	if (!message) {
		rpc_call_fail(call, RPC_INVALID_ARGUMENT, "the request is not a SnapshotRequest");
		return;
	}
	if (message->last_ms && message->session_id[0] &&
		strcmp(message->session_id, REQUEST_RECORDER_ID) != 0)
		rpc_call_fail(call, RPC_INVALID_ARGUMENT,
			"last_ms: only the flight recorder has that; leave session_id empty");
	else
		take_snapshot(context, call, message);
	proftap__v1__snapshot_request__free_unpacked(message, NULL);
}

/* --- Stop ----------------------------------------------------------------------------------- */

/* The client that ends a continuous session or the recorder gets the remaining data. */
static void stop_recording(struct service *service, struct rpc_call *call, const char *session_id)
{
	struct session_request *request = new_request(call);
	struct trace_stream *stream =
		request ? request_stream_open(service->session, service->streams, call, request, 0)
			: NULL;

	if (stream)
		request_stream_start(service->session, call, stream,
			recorder_call_stop(service->session, session_id, request));
}

/* Answers with only a trailer, because there is no data, or another call receives it. */
static void reply_nothing(struct rpc_call *call)
{
	const struct capture_result nothing = {.is_empty = 1};
	struct chunks message = CHUNKS_INIT;

	trace_part_add_trailer(&message, &nothing, 0, XXH3_64bits(NULL, 0));
	if (rpc_call_write(call, &message, 0) == -ENOMEM)
		reply_v1_failure(call, -ENOMEM, NULL);
	else
		rpc_call_finish(call, RPC_OK, "");
}

static void deliver_nothing(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	(void)r, (void)d;
	delivery_free(result->delivery);
	reply_nothing(request->call);
}

static void discard_recording(
	struct service *service, struct rpc_call *call, const char *session_id)
{
	struct session_request *request = new_request(call);
	int r;

	if (!request)
		return;
	request->call = call;
	request->deliver = deliver_nothing;
	request->discards = 1;
	r = recorder_call_stop(service->session, session_id, request);
	if (r)
		reply_v1_refusal(call, service->session, r);
}

/* Ends a capture. The call that started it receives the data. */
static void end_capture(
	struct service *service, struct rpc_call *call, const Proftap__V1__StopRequest *m)
{
	int r = session_end(service->session, m->session_id, m->discard);

	if (r)
		reply_v1_refusal(call, service->session, r);
	else
		reply_nothing(call);
}

void profiler_handle_stop(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct service *service = context;
	Proftap__V1__StopRequest *message = proftap__v1__stop_request__unpack(NULL, n, bytes);

	if (!message) {
		rpc_call_fail(call, RPC_INVALID_ARGUMENT, "the request is not a StopRequest");
		return;
	}
	if (!session_is_continuous(service->session) &&
		!recorder_call_is_for_recorder(service->session, message->session_id))
		end_capture(service, call, message);
	else if (message->discard)
		discard_recording(service, call, message->session_id);
	else
		stop_recording(service, call, message->session_id);
	proftap__v1__stop_request__free_unpacked(message, NULL);
}

/* --- Status and List ------------------------------------------------------------------------ */

/*
 * Returns the word for the state of one process: that of the server's status |s|, which all
 * recorded processes share, unless |life| says that this process has ended.
 */
static char *name_state(enum target_life life, const struct status *s)
{
	struct status own = *s;

	own.has_ended = life != TARGET_ALIVE;
	return (char *)status_name_state(&own);
}

/* The program that started the server. */
static void describe_main(
	const struct service *service, const struct status *s, struct target_message *e)
{
	target_message_describe(e, s);
	e->message.state = name_state(target_get_life(service->session->family->main), s);
}

static void describe_child(
	const struct child *child, const struct status *s, struct target_message *e)
{
	memset(e, 0, sizeof *e);
	proftap__v1__target__init(&e->message);
	e->message.pid = child->target.pid;
	e->message.since_unix_ns = (uint64_t)child->since_ns;
	e->message.state = name_state(target_get_life(&child->target), s);
	memcpy(e->name, child->target.name, sizeof e->name);
}

/* Reads /proc, which takes longer than the mutex of the family may be held. */
static void find_uid_and_stop(struct target_message *e)
{
	uid_t uid = 0;

	owner_find_uid("", e->message.pid, &uid);
	e->message.uid = uid;
	e->message.is_stopped = proc_is_stopped(e->message.pid);
}

void profiler_handle_status(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct service *service = context;
	Proftap__V1__StatusReply reply = PROFTAP__V1__STATUS_REPLY__INIT;
	struct status status = {.pid = 0};
	struct headroom headroom;
	struct target_message target;
	char session[256];

	(void)bytes, (void)n;
	service->describe(&status, service->context);
	describe_main(service, &status, &target);
	target_message_link(&target);
	session_describe(service->session, session, sizeof session);
	printable_clean(session);
	reply.target = &target.message;
	reply.session = session;
	reply.version = status.version;
	reply.max_capture_bytes = capture_find_max_bytes(
		service->session->family->main->max_capture_bytes, &headroom);
	reply.unix_ns = (uint64_t)realtime_ns();
	reply.monotonic_ns = (uint64_t)monotonic_ns();
	reply_message(call, &reply.base);
}

struct target_list {
	struct target_message *entries; /* the program first */
	size_t n;
	size_t n_allocated;
	struct status status; /* of the program's server */
	int error; /* -ENOMEM */
};

static struct target_message *add_entry(struct target_list *l)
{
	l->error = l->error ? l->error : grow(&l->entries, &l->n_allocated, l->n + 1);
	return l->error ? NULL : &l->entries[l->n++];
}

static void add_child_entry(struct child *child, void *context)
{
	struct target_list *l = context;
	struct target_message *e = add_entry(l);

	if (e)
		describe_child(child, &l->status, e);
}

static int compare_pids(const void *a, const void *b)
{
	const struct target_message *left = a, *right = b;

	return (left->message.pid > right->message.pid) - (left->message.pid < right->message.pid);
}

static void fill_list(struct service *service, struct target_list *l)
{
	struct target_message *e = add_entry(l);

	service->describe(&l->status, service->context);
	if (e)
		describe_main(service, &l->status, e);
	family_visit(service->session->family, add_child_entry, l);
	if (!l->error)
		qsort(l->entries + 1, l->n - 1, sizeof *l->entries, compare_pids);
}

/* Programs that have registered with this server (registry.h). */
struct subprocess_list {
	struct registered v[REGISTRY_MAX];
	Proftap__V1__Target messages[REGISTRY_MAX];
	Proftap__V1__Target *targets[REGISTRY_MAX];
	size_t n;
};

static void fill_subprocesses(struct service *service, struct subprocess_list *l)
{
	l->n = registry_list(service->registry, l->v);
	for (size_t i = 0; i < l->n; i++) {
		Proftap__V1__Target *target = l->targets[i] = &l->messages[i];

		proftap__v1__target__init(target);
		target->pid = l->v[i].pid;
		target->since_unix_ns = (uint64_t)l->v[i].since_ns;
		target->address = l->v[i].address;
		printable_clean(target->address);
	}
}

static void answer_list(struct rpc_call *call, struct target_list *l, struct subprocess_list *s)
{
	Proftap__V1__ListReply reply = PROFTAP__V1__LIST_REPLY__INIT;
	Proftap__V1__Target **targets = l->error ? NULL : calloc(l->n, sizeof *targets);

	if (!targets) {
		reply_v1_failure(call, -ENOMEM, NULL);
		return;
	}
	reply.n_subprocesses = s->n;
	reply.subprocesses = s->targets;
	for (size_t i = 0; i < l->n; i++) {
		if (i > 0)
			find_uid_and_stop(&l->entries[i]);
		target_message_link(&l->entries[i]);
		targets[i] = &l->entries[i].message;
	}
	reply.n_targets = l->n;
	reply.targets = targets;
	reply_message(call, &reply.base);
	free(targets);
}

void profiler_handle_list(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct target_list list = {.n = 0};
	struct subprocess_list *subprocesses = calloc(1, sizeof *subprocesses);

	(void)bytes, (void)n;
	fill_list(context, &list);
	if (subprocesses)
		fill_subprocesses(context, subprocesses);
	else
		list.error = -ENOMEM;
	answer_list(call, &list, subprocesses);
	free(subprocesses);
	free(list.entries);
}
