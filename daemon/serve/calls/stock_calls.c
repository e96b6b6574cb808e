/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profile, Terminate, and the calls for continuous sessions of tensorflow.ProfilerService, which
 * JAX's and TensorFlow's own clients make. The calls for continuous sessions have the stock
 * server's codes and texts, and its older names, too. Rows of service.c.
 */
#include "daemon/serve/calls/service.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/calls/continuous_session.h"
#include "daemon/serve/calls/errand.h"
#include "daemon/serve/calls/subprocesses.h"
#include "daemon/serve/message/reply.h"
#include "daemon/serve/message/request.h"
#include "daemon/serve/session/repository.h"
#include "daemon/serve/session/session.h"
#include "daemon/serve/session/session_request.h"
#include "rpc/server.h"
#include "trace/run_dir.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

/* --- traces in files ------------------------------------------------------------------------ */

/*
 * A client that names a repository_root wants the server to write its trace to a file. The stock
 * server writes that file anywhere; this one only below the operator's directory (repository.h).
 */

#define HOST_BYTES 300

/*
 * Returns true if the answer to |request| goes to a file: the request names a place in the
 * operator's directory and a run, and does not ask for the trace itself (emit_xspace).
 */
static bool file_is_wanted(
	const struct repository *repository, const struct session_request *request)
{
	return !request->emit_xspace && request->repository_root && request->session_id &&
	       repository_contains(repository, request->repository_root);
}

/* The file is called after the host that the client names, or after this one. */
static const char *name_file(const struct session_request *request, char own_name[HOST_BYTES])
{
	repository_name_host(own_name, HOST_BYTES);
	return request->host_name ? request->host_name : own_name;
}

static int open_run(
	const struct repository *repository, struct session_request *request, struct diag *d)
{
	int r = -ENOMEM;

	request->run = calloc(1, sizeof *request->run);
	if (request->run)
		r = repository_open_run(
			repository, request->repository_root, request->session_id, request->run, d);
	if (r) {
		free(request->run);
		request->run = NULL;
	}
	return r;
}

/*
 * Opens |request|->run before anything is recorded or any data is taken, so that a bad place fails
 * early. 0, or a negative errno: the call was answered.
 */
static int open_file(const struct repository *repository, struct session_request *request)
{
	struct diag d = DIAG_INIT;
	char own_name[HOST_BYTES];
	int r = open_run(repository, request, &d);

	if (!r)
		r = repository_check_free(request->run, name_file(request, own_name), &d);
	if (r)
		rpc_call_fail(request->call, RPC_INTERNAL, r == -ENOMEM ? "out of memory" : d.text);
	return r;
}

/*
 * Writes the file and answers the call. The answer only says whether there was data. Takes the
 * delivery of |result|.
 */
static void finish_file(
	struct session_request *request, struct capture_result *result, struct diag *d)
{
	char own_name[HOST_BYTES];
	int r = 0;

	if (!result->is_empty)
		r = repository_publish(
			request->run, result->delivery, name_file(request, own_name), d);
	result->delivery = delivery_free(result->delivery);
	if (r)
		rpc_call_fail(request->call, RPC_INTERNAL, d->text);
	else
		reply_profile(request->call, result, 0);
}

/* --- Profile and Terminate ------------------------------------------------------------------ */

static void cancel_session(struct rpc_call *call, void *session)
{
	session_cancel(session, call);
}

/*
 * Decodes a ProfileRequest, or answers the call with an error. 0 or -1. The caller owns *out, whose
 * |call| is set.
 */
static int decode_profile(
	struct rpc_call *call, const uint8_t *bytes, size_t n, struct session_request **out)
{
	struct diag d = DIAG_INIT;
	int r = request_decode(bytes, n, out, &d);

	if (r == -ENOMEM)
		reply_failure(call, r, &d);
	else if (r)
		rpc_call_fail(call, RPC_INVALID_ARGUMENT, d.text);
	else
		(*out)->call = call;
	return r ? -1 : 0;
}

/* Answers |call| with |r|, the session's refusal of its request. */
static void fail_profile(struct service *service, struct rpc_call *call, int r)
{
	struct diag d = DIAG_INIT;

	switch (r) {
	case SESSION_BUSY:
		session_describe(service->session, d.text, sizeof d.text);
		reply_failure(call, CAPTURE_BUSY, &d);
		break;
	case -ENOMEM:
		reply_failure(call, r, &d);
		break;
	default:
		reply_gone(call, service->session);
		break;
	}
}

static void deliver_profile(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	if (r)
		reply_failure(request->call, r, d);
	else
		reply_profile(request->call, result, request->emit_xspace);
}

static void deliver_profile_file(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	if (r)
		reply_failure(request->call, r, d);
	else
		finish_file(request, result, d);
}

/* Decides between a message and a file. 0, or -1: the call was answered. */
static int choose_delivery(struct service *service, struct session_request *request)
{
	request->deliver = deliver_profile;
	request->capture.max_xspace_bytes = REPLY_MAX_XSPACE_BYTES;
	if (request_warn_of_host_options(request, request->call)) {
		reply_failure(request->call, -ENOMEM, NULL);
		return -1;
	}
	if (!file_is_wanted(service->repository, request))
		return 0;
	request->deliver = deliver_profile_file;
	request->capture.max_xspace_bytes = 0;
	return open_file(service->repository, request) ? -1 : 0;
}

/* Does stock_call_profile()'s work for a tree of processes, on a thread of its own. */
static void profile_tree(struct errand *e)
{
	struct service *service = e->context;
	const struct subprocesses_config config = {e, service->session, service->registry};
	struct session_request *request;
	struct subprocesses *tree;
	int r;

	if (decode_profile(e->call, e->request, e->request_bytes, &request))
		return;
	if (choose_delivery(service, request)) {
		session_request_free(request);
		return;
	}
	r = subprocesses_take(&config, request, &tree);
	if (r)
		fail_profile(service, e->call, r);
	else
		subprocesses_record(tree);
}

static void take_profile(struct service *service, struct session_request *request)
{
	struct rpc_call *call = request->call;
	int r;

	if (choose_delivery(service, request)) {
		session_request_free(request);
		return;
	}
	rpc_call_set_on_cancel(call, cancel_session, service->session);
	r = session_take(service->session, request);
	if (r)
		fail_profile(service, call, r);
}

void stock_call_profile(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct service *service = context;
	struct session_request *request;

	if (decode_profile(call, bytes, n, &request))
		return;
	if (!subprocesses_are_wanted(request)) {
		take_profile(service, request);
		return;
	}
	session_request_free(request);
	errand_start(service->errands, ERRAND_RECORDING, call, bytes, n, profile_tree);
}

/* Answers OK for an unknown id, too, and does not remember that id for a later session. */
void stock_call_terminate(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct service *service = context;
	Tensorflow__TerminateRequest *message =
		tensorflow__terminate_request__unpack(NULL, n, bytes);

	if (!message) {
		rpc_call_fail(call, RPC_INVALID_ARGUMENT, "the request is not a TerminateRequest");
		return;
	}
	session_terminate(service->session, message->session_id);
	tensorflow__terminate_request__free_unpacked(message, NULL);
	reply_empty(call);
}

/* --- continuous sessions -------------------------------------------------------------------- */

/* The stock server's texts. */
static const char no_session[] = "No continuous profiling session found.";
static const char session_runs[] = "A profiling session is already running.";
static const char bad_name[] =
	"Invalid snapshot_session_id. Only alphanumeric, underscores, and hyphens are allowed.";

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
#define MAX_NAME_BYTES 128

static void fail_start(struct rpc_call *call, const char *reason)
{
	rpc_call_fail_with(call, RPC_INTERNAL, "Failed to create profiler session: %s", reason);
}

static void begin_continuous(struct session_request *request, struct rpc_call *call)
{
	(void)request;
	reply_empty(call);
}

/* The |deliver| of a session that did not begin. */
static void deliver_start_failure(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	delivery_free(result->delivery);
	if (r < 0 && r != -ENOMEM)
		fail_start(request->call, d->text);
	else
		reply_failure(request->call, r ? r : CAPTURE_CANCELLED, d);
}

static void fail_busy(struct rpc_call *call, struct session *session)
{
	char text[320];
	size_t n;

	if (session_is_continuous(session)) {
		rpc_call_fail(call, RPC_ALREADY_EXISTS, session_runs);
		return;
	}
	n = (size_t)snprintf(text, sizeof text, "Another profiling session active. ");
	session_describe(session, text + n, sizeof text - n);
	fail_start(call, text);
}

/*
 * Reads a host_tracer_level of 0 together with tpu_circular_buffer_tracing as the default. XProf's
 * Python client always sends this pair, because a TPU's server has a ring only for the device. The
 * user did not choose it, and would get an empty trace here.
 */
static int lift_forced_level(struct session_request *request)
{
	struct profile_options *o = &request->capture.options;
	struct profile_options defaults;
	char text[160];

	if (o->host_tracer_level > 0 ||
		!profile_options_get_number(o, "tpu_circular_buffer_tracing", 0))
		return 0;
	profile_options_init(&defaults);
	o->host_tracer_level = defaults.host_tracer_level;
	snprintf(text, sizeof text,
		"host_tracer_level: 0 is replaced by the default, %u, because XProf's client always "
		"sends 0 with tpu_circular_buffer_tracing",
		o->host_tracer_level);
	return capture_request_warn(&request->capture, text);
}

void stock_call_start_continuous(
	struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct service *service = context;
	struct session *session = service->session;
	struct session_request *request;
	int r;

	if (decode_profile(call, bytes, n, &request))
		return;
	if (lift_forced_level(request)) {
		session_request_free(request);
		reply_no_memory(call);
		return;
	}
	request->begin = begin_continuous;
	request->deliver = deliver_start_failure;
	r = session_start_continuous(session, request);
	if (r == SESSION_BUSY)
		fail_busy(call, session);
	else if (r == -ENOMEM)
		reply_no_memory(call);
	else if (r)
		reply_gone(call, session);
}

static void fail_data_request(struct rpc_call *call, int r)
{
	if (r == SESSION_NONE || r == SESSION_NO_RECORDER)
		rpc_call_fail(call, RPC_NOT_FOUND, no_session);
	else
		rpc_call_fail(call, RPC_RESOURCE_EXHAUSTED,
			"too many snapshots were requested at a time");
}

/* A request for the data of a running session. NULL: out of memory, and the call was answered. */
static struct session_request *new_data_request(struct rpc_call *call,
	void (*deliver)(struct session_request *, int, struct capture_result *, struct diag *))
{
	struct session_request *request = calloc(1, sizeof *request);

	if (!request) {
		reply_no_memory(call);
		return NULL;
	}
	profile_options_init(&request->capture.options);
	request->call = call;
	request->deliver = deliver;
	request->emit_xspace = 1;
	return request;
}

static void deliver_snapshot(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	if (r == CAPTURE_NO_TARGET)
		rpc_call_fail(request->call, RPC_NOT_FOUND, no_session);
	else if (r)
		reply_failure(request->call, r, d);
	else if (request->run)
		finish_file(request, result, d);
	else
		reply_profile(request->call, result, request->emit_xspace);
}

/*
 * A snapshot with a |name| becomes a run of that name, in the directory that the start of the
 * session named. 0, or -1: the call was answered.
 */
static int choose_snapshot_place(
	struct service *service, struct session_request *request, const char *name)
{
	int r;

	if (!name[0])
		return 0;
	request->session_id = strdup(name);
	r = request->session_id ? session_copy_place(service->session, request) : -ENOMEM;
	if (r) {
		rpc_call_fail(request->call, RPC_RESOURCE_EXHAUSTED,
			"the profiler server is out of memory");
		return -1;
	}
	request->emit_xspace = 0;
	if (file_is_wanted(service->repository, request))
		return open_file(service->repository, request) ? -1 : 0;
	request->emit_xspace = 1;
	return 0;
}

static void get_snapshot(struct rpc_call *call, struct service *service, const char *name)
{
	struct session_request *request = new_data_request(call, deliver_snapshot);
	int r;

	if (!request)
		return;
	if (choose_snapshot_place(service, request, name)) {
		session_request_free(request);
		return;
	}
	rpc_call_set_on_cancel(call, cancel_session, service->session);
	r = recorder_call_snapshot(service->session, "", request);
	if (r)
		fail_data_request(call, r);
}

void stock_call_get_snapshot(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct service *service = context;
	Tensorflow__GetSnapshotRequest *message =
		tensorflow__get_snapshot_request__unpack(NULL, n, bytes);
	const char *name = message ? message->snapshot_session_id : "";

	if (!message)
		rpc_call_fail(
			call, RPC_INVALID_ARGUMENT, "the request is not a GetSnapshotRequest");
	else if (strlen(name) > MAX_NAME_BYTES || name[strspn(name, NAME_LETTERS)])
		rpc_call_fail(call, RPC_INVALID_ARGUMENT, bad_name);
	else
		get_snapshot(call, service, name);
	if (message)
		tensorflow__get_snapshot_request__free_unpacked(message, NULL);
}

void stock_call_get_old_snapshot(
	struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct service *service = context;

	(void)bytes;
	(void)n;
	get_snapshot(call, service, "");
}

static void deliver_end(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	(void)r;
	(void)d;
	delivery_free(result->delivery);
	reply_empty(request->call);
}

void stock_call_stop_continuous(
	struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct service *service = context;
	struct session_request *request = new_data_request(call, deliver_end);
	int r;

	(void)bytes;
	(void)n;
	if (!request)
		return;
	request->discards = 1;
	r = session_stop(service->session, NULL, request);
	if (r)
		fail_data_request(call, r);
}
