/* SPDX-License-Identifier: Apache-2.0 */
/* One capture of many hosts; see new_session.h. */
#include "daemon/new_session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/diag.h"
#include "daemon/analysis.h"
#include "daemon/capture.h"
#include "daemon/delivery.h"
#include "daemon/errand.h"
#include "daemon/family.h"
#include "daemon/repository.h"
#include "daemon/request.h"
#include "daemon/service.h"
#include "daemon/session.h"
#include "daemon/session_request.h"
#include "daemon/target.h"
#include "rpc/client.h"
#include "rpc/server.h"
#include "trace/pbwire.h"
#include "trace/run_dir.h"
#include "tsl/profiler/protobuf/profiler_analysis.pb-c.h"

#define PROFILE "/tensorflow.ProfilerService/Profile"
#define MAX_HOSTS 64
/* Of one host's answer, which is in memory as a whole. */
#define MAX_REPLY_BYTES (UINT64_C(512) << 20)
/* Beyond the recording: what collecting may take. */
#define GRACE_MS 60000
#define LOOK_MS 50

typedef Tensorflow__NewProfileSessionRequest Asked;

struct host {
	const char *address; /* as asked, or the own name */
	struct rpc_channel *channel; /* NULL: this server */
	struct rpc_pending *pending;
	struct delivery *trace;
	int is_empty;
	char error[200]; /* "": none */
};

struct fan_out {
	struct errand *errand;
	const Asked *asked;
	const char *session_id;
	struct host hosts[MAX_HOSTS + 1];
	size_t n_hosts;
	struct host *own;
	int is_own_done; /* under the errands' mutex */
	char own_name[320];
};

/* Who. */

static int is_own_name(const struct arena *arena, const char *host)
{
	static const char *const local[] = {"localhost", "127.0.0.1", "[::1]"};
	char name[256];

	for (size_t i = 0; i < sizeof local / sizeof local[0]; i++)
		if (strcmp(host, local[i]) == 0)
			return 1;
	repository_name_host(name, sizeof name);
	return strcmp(host, name) == 0 || strncmp(host, arena->address, sizeof arena->address) == 0;
}

static int is_own(const struct fan_out *f, const char *address)
{
	const struct arena *arena = f->errand->service->session->family->main->arena;
	const char *colon = strrchr(address, ':');
	char host[256];

	if (!colon || strtoul(colon + 1, NULL, 10) != arena->port)
		return 0;
	snprintf(host, sizeof host, "%.*s", (int)(colon - address), address);
	return is_own_name(arena, host);
}

/* It records itself, whether it is among the hosts or not. */
static void find_hosts(struct fan_out *f)
{
	for (size_t i = 0; i < f->asked->n_hosts; i++) {
		struct host *h = &f->hosts[f->n_hosts];

		h->address = f->asked->hosts[i];
		if (is_own(f, h->address) && f->own)
			continue;
		if (is_own(f, h->address))
			f->own = h;
		f->n_hosts++;
	}
	if (f->own)
		return;
	f->own = &f->hosts[f->n_hosts++];
	repository_name_host(f->own_name, 256);
	snprintf(f->own_name + strlen(f->own_name), 16, "_%u",
		f->errand->service->session->family->main->arena->port);
	f->own->address = f->own_name;
}

/* What is asked: the client's request, but for the place of the data. */
static uint8_t *pack_request(const struct fan_out *f, const struct host *h, size_t *n)
{
	Tensorflow__ProfileRequest request = *f->asked->request;
	uint8_t *bytes;

	request.emit_xspace = 1;
	request.repository_root = (char *)"";
	request.session_id = (char *)f->session_id;
	request.host_name = (char *)h->address;
	bytes = malloc(tensorflow__profile_request__get_packed_size(&request) + 1);
	if (bytes)
		*n = tensorflow__profile_request__pack(&request, bytes);
	return bytes;
}

static void fail_host(struct host *h, const char *text)
{
	snprintf(h->error, sizeof h->error, "%.60s: %.130s", h->address, text);
}

/* This server. */

static void deliver_own(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	struct fan_out *f = request->context;

	f->own->trace = result->delivery;
	f->own->is_empty = result->is_empty;
	if (r == CAPTURE_NO_TARGET)
		fail_host(f->own, session_gone_text);
	else if (r)
		fail_host(f->own, d->text[0] ? d->text : "it could not record");
	errand_raise(f->errand, &f->is_own_done);
}

static void start_own(struct fan_out *f)
{
	struct session *session = f->errand->service->session;
	size_t n = 0;
	_cleanup_free_ uint8_t *bytes = pack_request(f, f->own, &n);
	struct session_request *request = NULL;
	struct diag d = DIAG_INIT;
	int r = bytes ? request_decode(bytes, n, &request, &d) : -ENOMEM;

	f->is_own_done = 1;
	if (r) {
		fail_host(f->own, r == -ENOMEM ? "out of memory" : d.text);
		return;
	}
	request->call = f->errand->call;
	request->deliver = deliver_own;
	request->context = f;
	f->is_own_done = 0;
	if (session_take(session, request)) {
		f->is_own_done = 1;
		fail_host(f->own, "busy: another profiling session is active");
	}
}

/* The others. */

static int64_t find_timeout_ms(const struct fan_out *f)
{
	const Tensorflow__ProfileRequest *q = f->asked->request;
	uint64_t ms = q->opts && q->opts->duration_ms ? q->opts->duration_ms : q->duration_ms;
	int64_t wait_ms =
		q->opts ? capture_find_wait_ns(q->opts->start_timestamp_ns) / NS_PER_MS : 0;

	return ms > INT32_MAX || wait_ms > INT32_MAX ? -1 : (int64_t)ms + wait_ms + GRACE_MS;
}

static void start_remote(struct fan_out *f, struct host *h)
{
	size_t n = 0;
	_cleanup_free_ uint8_t *bytes = pack_request(f, h, &n);
	struct rpc_request request = {
		.path = PROFILE,
		.message = bytes,
		.message_bytes = n,
		.timeout_ms = find_timeout_ms(f),
		.max_reply_bytes = MAX_REPLY_BYTES,
	};
	struct diag d = DIAG_INIT;

	h->channel = bytes ? rpc_channel_new_to(h->address) : NULL;
	if (!h->channel)
		fail_host(h, "out of memory");
	else if (rpc_call_start(h->channel, &request, &h->pending, &d))
		fail_host(h, d.text);
}

struct reply_bytes {
	uint8_t *data;
	size_t n;
};

static int append(const uint8_t *data, size_t n, void *context)
{
	struct reply_bytes *reply = context;

	memcpy(reply->data + reply->n, data, n);
	reply->n += n;
	return 0;
}

/* tool_data, if it is the XSpace: its bytes go to |out|. */
static void take_tool(const struct pb_field *tool, struct chunks *out)
{
	struct pb_reader reader = pb_enter(tool);
	struct pb_field field;
	struct pb_field data = {.n_bytes = 0};
	int is_xspace = 0;

	while (pb_next(&reader, &field) > 0) {
		if (field.tag == PB_TAG(1, PB_LEN))
			is_xspace = field.n_bytes == 9 && memcmp(field.data, "xplane.pb", 9) == 0;
		else if (field.tag == PB_TAG(2, PB_LEN))
			data = field;
	}
	if (is_xspace)
		chunks_append(out, data.data, data.n_bytes);
}

static int parse_reply(struct host *h, const struct reply_bytes *reply, struct chunks *out)
{
	struct pb_reader reader = pb_reader(reply->data, reply->n);
	struct pb_field field;
	int r;

	while ((r = pb_next(&reader, &field)) > 0) {
		if (field.tag == PB_TAG(6, PB_LEN))
			take_tool(&field, out);
		else if (field.tag == PB_TAG(7, PB_VARINT))
			h->is_empty = field.value != 0;
		else if (field.tag == PB_TAG(8, PB_LEN))
			chunks_append(out, field.data, field.n_bytes);
	}
	return r;
}

static void read_reply(struct host *h)
{
	struct reply_bytes reply = {malloc(rpc_pending_get_bytes(h->pending) + 1), 0};
	struct chunks xspace = CHUNKS_INIT;

	if (!reply.data)
		fail_host(h, "out of memory");
	else if (rpc_pending_read(h->pending, append, &reply) || parse_reply(h, &reply, &xspace))
		fail_host(h, "its answer is no ProfileResponse");
	else if (xspace.total_bytes == 0 && !h->is_empty)
		fail_host(h, "it answered without data: it wrote to its own disk");
	else if (delivery_new_from_chunks(&xspace, &h->trace))
		fail_host(h, "out of memory");
	chunks_deinit(&xspace);
	free(reply.data);
}

static void end_remote(struct host *h)
{
	char text[160];

	if (h->pending && !h->error[0] && rpc_pending_get_status(h->pending) == RPC_OK)
		read_reply(h);
	else if (h->pending && !h->error[0]) {
		snprintf(text, sizeof text, "%s: %.120s",
			rpc_status_name(rpc_pending_get_status(h->pending)),
			rpc_pending_get_text(h->pending));
		fail_host(h, text);
	}
	h->pending = rpc_pending_free(h->pending);
	h->channel = rpc_channel_free(h->channel);
}

/* All. */

/* 1 when the call is given up. */
static int wait_for_remotes(struct fan_out *f)
{
	int is_cancelled = 0;

	for (size_t i = 0; i < f->n_hosts; i++) {
		struct host *h = &f->hosts[i];

		while (h->pending && !is_cancelled && !rpc_pending_wait(h->pending, LOOK_MS))
			is_cancelled = errand_is_cancelled(f->errand);
		if (h->pending && is_cancelled)
			rpc_pending_cancel(h->pending);
	}
	return is_cancelled;
}

static int record(struct fan_out *f)
{
	int is_cancelled;

	for (size_t i = 0; i < f->n_hosts; i++)
		if (&f->hosts[i] != f->own)
			start_remote(f, &f->hosts[i]);
	start_own(f);
	is_cancelled = wait_for_remotes(f);
	while (!is_cancelled && !errand_is_done(f->errand, &f->is_own_done))
		is_cancelled = errand_wait(f->errand, monotonic_ns() + LOOK_MS * NS_PER_MS);
	if (is_cancelled)
		session_cancel(f->errand->service->session, f->errand->call);
	errand_await(f->errand, &f->is_own_done);
	for (size_t i = 0; i < f->n_hosts; i++)
		if (&f->hosts[i] != f->own)
			end_remote(&f->hosts[i]);
	return is_cancelled;
}

static void write_trace(struct fan_out *f, struct host *h)
{
	struct run_dir run;
	struct diag d = DIAG_INIT;
	int r;

	if (!h->trace || h->is_empty || h->error[0])
		return;
	r = repository_open_run(&f->errand->service->repository, f->asked->repository_root,
		f->session_id, &run, &d);
	if (!r) {
		r = repository_publish(&run, h->trace, h->address, &d);
		run_dir_close(&run);
	}
	if (r)
		fail_host(h, d.text);
}

static void reply(struct fan_out *f)
{
	Tensorflow__NewProfileSessionResponse response =
		TENSORFLOW__NEW_PROFILE_SESSION_RESPONSE__INIT;
	struct chunks message = CHUNKS_INIT;
	char text[MAX_HOSTS * 32] = "";
	uint8_t *room;

	response.empty_trace = 1;
	for (size_t i = 0; i < f->n_hosts; i++) {
		const struct host *h = &f->hosts[i];
		size_t n = strlen(text);

		if (!h->error[0] && !h->is_empty)
			response.empty_trace = 0;
		if (h->error[0])
			snprintf(text + n, sizeof text - n, "%s%s", n ? "; " : "", h->error);
	}
	response.error_message = text;
	room = chunks_reserve(
		&message, tensorflow__new_profile_session_response__get_packed_size(&response));
	if (room)
		chunks_commit(
			&message, tensorflow__new_profile_session_response__pack(&response, room));
	rpc_call_reply(f->errand->call, &message);
}

static void run(struct fan_out *f)
{
	int is_cancelled;

	find_hosts(f);
	is_cancelled = record(f);
	for (size_t i = 0; i < f->n_hosts; i++) {
		if (!is_cancelled)
			write_trace(f, &f->hosts[i]);
		delivery_free(f->hosts[i].trace);
	}
	if (is_cancelled)
		rpc_call_fail(f->errand->call, RPC_CANCELLED, "the client went away");
	else
		reply(f);
}

/* Before anybody records. */
static int check(const struct errand *e, const Asked *asked, const char *session_id, struct diag *d)
{
	const struct repository *r = &e->service->repository;

	if (!repository_is_named(r))
		return diag_set(d, -EACCES, "%s", repository_none_text);
	if (asked->repository_root[0] && !repository_contains(r, asked->repository_root))
		return diag_set(d, -EACCES,
			"\"%.150s\" is not inside the directory that this server's operator named",
			asked->repository_root);
	if (!asked->request || asked->n_hosts > MAX_HOSTS)
		return diag_set(
			d, -EINVAL, "there must be a request, and at most %d hosts", MAX_HOSTS);
	return run_dir_check_name(session_id, d);
}

static void work(struct errand *e)
{
	Asked *asked =
		tensorflow__new_profile_session_request__unpack(NULL, e->request_bytes, e->request);
	struct fan_out *f = asked ? calloc(1, sizeof *f) : NULL;
	struct diag d = DIAG_INIT;
	int r;

	if (!asked || !f) {
		rpc_call_fail(e->call, asked ? RPC_RESOURCE_EXHAUSTED : RPC_INVALID_ARGUMENT,
			asked ? "out of memory" : "the request is not a NewProfileSessionRequest");
	} else {
		f->errand = e;
		f->asked = asked;
		f->session_id = asked->session_id[0] || !asked->request
					? asked->session_id
					: asked->request->session_id;
		r = check(e, asked, f->session_id, &d);
		if (r)
			analysis_fail(e->call, r, &d);
		else
			run(f);
	}
	if (asked)
		tensorflow__new_profile_session_request__free_unpacked(asked, NULL);
	free(f);
}

void new_session_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *service)
{
	errand_start(service, call, bytes, n, work);
}
