/* SPDX-License-Identifier: Apache-2.0 */
/* One capture of many hosts; see new_session.h. */
#include "daemon/new_session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/diag.h"
#include "daemon/analysis.h"
#include "daemon/capture.h"
#include "daemon/errand.h"
#include "daemon/family.h"
#include "daemon/remote_profile.h"
#include "daemon/reply_message.h"
#include "daemon/repository.h"
#include "daemon/request.h"
#include "daemon/service.h"
#include "daemon/session.h"
#include "daemon/session_request.h"
#include "daemon/target.h"
#include "proto/pack.h"
#include "rpc/server.h"
#include "trace/run_dir.h"
#include "tsl/profiler/protobuf/profiler_analysis.pb-c.h"

#define MAX_HOSTS 64
/* Beyond the recording: what collecting may take. */
#define GRACE_MS 60000
#define LOOK_MS 50

typedef Tensorflow__NewProfileSessionRequest Asked;

struct host {
	const char *name; /* as asked, or the own name */
	struct remote_profile profile; /* of this server, only what came of it */
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

		h->name = f->asked->hosts[i];
		if (is_own(f, h->name) && f->own)
			continue;
		if (is_own(f, h->name))
			f->own = h;
		f->n_hosts++;
	}
	if (f->own)
		return;
	f->own = &f->hosts[f->n_hosts++];
	repository_name_host(f->own_name, 256);
	snprintf(f->own_name + strlen(f->own_name), 16, "_%u",
		f->errand->service->session->family->main->arena->port);
	f->own->name = f->own_name;
}

/* What is asked: the client's request, but for the place of the data. */
static int pack_request(const struct fan_out *f, const struct host *h, uint8_t **out, size_t *n)
{
	Tensorflow__ProfileRequest request = *f->asked->request;

	request.emit_xspace = 1;
	request.repository_root = (char *)"";
	request.session_id = (char *)f->session_id;
	request.host_name = (char *)h->name;
	return proto_pack(&request.base, out, n);
}

/* This server. */

static void deliver_own(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	struct fan_out *f = request->context;

	f->own->profile.trace = result->delivery;
	f->own->profile.is_empty = result->is_empty;
	if (r == CAPTURE_NO_TARGET)
		remote_profile_fail(&f->own->profile, session_gone_text);
	else if (r)
		remote_profile_fail(&f->own->profile, d->text[0] ? d->text : "it could not record");
	errand_raise(f->errand, &f->is_own_done);
}

static void start_own(struct fan_out *f)
{
	struct session *session = f->errand->service->session;
	size_t n = 0;
	_cleanup_free_ uint8_t *bytes = NULL;
	struct session_request *request = NULL;
	struct diag d = DIAG_INIT;
	int r = pack_request(f, f->own, &bytes, &n);

	if (!r)
		r = request_decode(bytes, n, &request, &d);
	f->is_own_done = 1;
	snprintf(f->own->profile.address, sizeof f->own->profile.address, "%s", f->own->name);
	if (r) {
		remote_profile_fail(&f->own->profile, r == -ENOMEM ? "out of memory" : d.text);
		return;
	}
	request->call = f->errand->call;
	request->deliver = deliver_own;
	request->context = f;
	f->is_own_done = 0;
	if (session_take(session, request)) {
		f->is_own_done = 1;
		remote_profile_fail(&f->own->profile, "busy: another profiling session is active");
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
	_cleanup_free_ uint8_t *bytes = NULL;

	if (pack_request(f, h, &bytes, &n))
		remote_profile_fail(&h->profile, "out of memory");
	else
		remote_profile_start(&h->profile, h->name, bytes, n, find_timeout_ms(f));
}

/* All. */

/* 1 when the call is given up. */
static int wait_for_remotes(struct fan_out *f)
{
	int is_cancelled = 0;

	for (size_t i = 0; i < f->n_hosts; i++)
		while (!is_cancelled && !remote_profile_wait(&f->hosts[i].profile, LOOK_MS))
			is_cancelled = errand_is_cancelled(f->errand);
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
	if (!is_cancelled)
		is_cancelled = errand_await_or_cancel(f->errand, &f->is_own_done);
	if (is_cancelled)
		session_cancel(f->errand->service->session, f->errand->call);
	errand_await(f->errand, &f->is_own_done);
	for (size_t i = 0; i < f->n_hosts; i++)
		if (&f->hosts[i] != f->own)
			remote_profile_end(&f->hosts[i].profile);
	return is_cancelled;
}

static void write_trace(struct fan_out *f, struct host *h)
{
	struct run_dir run;
	struct diag d = DIAG_INIT;
	int r;

	if (!h->profile.trace || h->profile.is_empty || h->profile.error[0])
		return;
	r = repository_open_run(&f->errand->service->repository, f->asked->repository_root,
		f->session_id, &run, &d);
	if (!r) {
		r = repository_publish(&run, h->profile.trace, h->name, &d);
		run_dir_close(&run);
	}
	if (r)
		remote_profile_fail(&h->profile, d.text);
}

static void reply(struct fan_out *f)
{
	Tensorflow__NewProfileSessionResponse response =
		TENSORFLOW__NEW_PROFILE_SESSION_RESPONSE__INIT;
	char text[MAX_HOSTS * 32] = "";

	response.empty_trace = 1;
	for (size_t i = 0; i < f->n_hosts; i++) {
		const struct remote_profile *h = &f->hosts[i].profile;
		size_t n = strlen(text);

		if (!h->error[0] && !h->is_empty)
			response.empty_trace = 0;
		if (h->error[0])
			snprintf(text + n, sizeof text - n, "%s%s", n ? "; " : "", h->error);
	}
	response.error_message = text;
	reply_message(f->errand->call, &response.base);
}

static void run(struct fan_out *f)
{
	int is_cancelled;

	find_hosts(f);
	is_cancelled = record(f);
	for (size_t i = 0; i < f->n_hosts; i++) {
		if (!is_cancelled)
			write_trace(f, &f->hosts[i]);
		remote_profile_deinit(&f->hosts[i].profile);
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
