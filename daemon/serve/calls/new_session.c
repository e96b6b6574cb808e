/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NewSession of tensorflow.ProfileAnalysis: one capture of many hosts, which clients of the "cloud
 * TPU" path ask of the first of them. This server records itself and asks the others by Profile;
 * each host's trace goes into one run of the directory that the operator named. Without one it is
 * FAILED_PRECONDITION.
 */
#include "daemon/serve/calls/service_handlers.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/diag.h"
#include "daemon/serve/calls/analysis.h"
#include "daemon/serve/calls/errand.h"
#include "daemon/serve/calls/failures.h"
#include "daemon/serve/calls/fan_out.h"
#include "daemon/serve/calls/service.h"
#include "daemon/serve/message/reply_message.h"
#include "daemon/serve/session/repository.h"
#include "rpc/server.h"
#include "trace/run_dir.h"
#include "tsl/profiler/protobuf/profiler_analysis.pb-c.h"

typedef Tensorflow__NewProfileSessionRequest Asked;

static int check(
	const struct repository *r, const Asked *asked, const char *session_id, struct diag *d)
{
	if (!repository_is_named(r))
		return diag_set(d, -EACCES, "%s", repository_explain_none(r));
	if (asked->repository_root[0] && !repository_contains(r, asked->repository_root))
		return diag_set(d, -EACCES,
			"\"%.150s\" is not inside the directory that this server's operator named",
			asked->repository_root);
	if (!asked->request)
		return diag_set(d, -EINVAL, "there must be a request");
	return run_dir_check_name(session_id, d);
}

/* All checks are made before any host records. */
static int prepare(struct fan_out *f, struct errand *e, const Asked *asked, struct diag *d)
{
	const struct service *service = e->context;
	int r;

	f->errand = e;
	f->session = service->session;
	f->registry = service->registry;
	f->repository = service->repository;
	f->request = asked->request;
	f->session_id = asked->session_id[0] || !asked->request ? asked->session_id
								: asked->request->session_id;
	r = check(f->repository, asked, f->session_id, d);
	for (size_t i = 0; i < asked->n_hosts && !r; i++)
		r = fan_out_add(f, asked->hosts[i], d);
	return r;
}

static void reply(const struct fan_out *f)
{
	Tensorflow__NewProfileSessionResponse response =
		TENSORFLOW__NEW_PROFILE_SESSION_RESPONSE__INIT;
	struct failures failures = {.n_bytes = 0};

	response.empty_trace = 1;
	for (size_t i = 0; i < f->group.n; i++) {
		const struct group_member *h = &f->group.members[i];

		if (h->error[0])
			failures_add(&failures, h->error);
		else if (!h->is_empty)
			response.empty_trace = 0;
	}
	response.error_message = failures.text;
	reply_message(f->errand->call, &response.base);
}

static void run(struct fan_out *f, const char *root, atomic_int *is_fanning_out)
{
	int is_cancelled = fan_out_record(f);

	if (!is_cancelled)
		fan_out_publish(f, root);
	fan_out_deinit(f);
	/* Cleared before the answer: its client may ask again at once. */
	atomic_store(is_fanning_out, 0);
	if (is_cancelled)
		rpc_call_fail(f->errand->call, RPC_CANCELLED, "the client went away");
	else
		reply(f);
}

static void answer(struct errand *e, const Asked *asked)
{
	struct service *service = e->context;
	struct fan_out *f = calloc(1, sizeof *f);
	struct diag d = DIAG_INIT;
	int r = f ? prepare(f, e, asked, &d) : -ENOMEM;

	if (r)
		analysis_fail(e->call, r, &d);
	else if (atomic_exchange(&service->is_fanning_out, 1))
		rpc_call_fail(e->call, RPC_RESOURCE_EXHAUSTED,
			"another NewSession is under way; ask again later");
	else
		run(f, asked->repository_root, &service->is_fanning_out);
	free(f);
}

static void work(struct errand *e)
{
	Asked *asked =
		tensorflow__new_profile_session_request__unpack(NULL, e->request_bytes, e->request);

	if (!asked) {
		rpc_call_fail(e->call, RPC_INVALID_ARGUMENT,
			"the request is not a NewProfileSessionRequest");
		return;
	}
	answer(e, asked);
	tensorflow__new_profile_session_request__free_unpacked(asked, NULL);
}

void new_session_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct service *service = context;

	errand_start(service->errands, ERRAND_RECORDING, call, bytes, n, work);
}
