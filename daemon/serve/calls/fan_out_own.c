/* SPDX-License-Identifier: Apache-2.0 */
/* A server's own part; see fan_out_own.h. */
#include "daemon/serve/calls/fan_out_own.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/calls/errand.h"
#include "daemon/serve/calls/fan_out.h"
#include "daemon/serve/calls/subprocesses.h"
#include "daemon/serve/message/request.h"
#include "daemon/serve/session/session.h"
#include "daemon/serve/session/session_request.h"
#include "proto/pack.h"

static void deliver(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	struct fan_out *f = request->context;

	f->own->trace = result->delivery;
	f->own->is_empty = result->is_empty;
	if (r == CAPTURE_NO_TARGET)
		fan_out_host_fail(f->own, session_gone_text);
	else if (r)
		fan_out_host_fail(f->own, d->text[0] ? d->text : "it could not record");
	errand_raise(f->errand, &f->is_own_done);
}

/* As it came by a Profile. NULL: the host's |error| says why. */
static struct session_request *make_request(struct fan_out *f)
{
	Tensorflow__ProfileRequest asked = f->asked;
	_cleanup_free_ uint8_t *bytes = NULL;
	struct session_request *request = NULL;
	struct diag d = DIAG_INIT;
	size_t n = 0;
	int r;

	asked.host_name = (char *)f->own->name;
	r = proto_pack(&asked.base, &bytes, &n);
	if (!r)
		r = request_decode(bytes, n, &request, &d);
	if (r) {
		fan_out_host_fail(f->own, r == -ENOMEM ? "out of memory" : d.text);
		return NULL;
	}
	request->call = f->errand->call;
	request->deliver = deliver;
	request->context = f;
	return request;
}

/* Subprocesses are waited for, while this thread waits for other hosts. */
static void *record_tree(void *tree)
{
	subprocesses_record(tree);
	return NULL;
}

static int take_tree(struct fan_out *f, struct session_request *request)
{
	int r = subprocesses_take(&(struct subprocesses_config){f->errand, f->session, f->registry},
		request, &f->tree);

	if (r)
		return r;
	f->has_tree_thread = pthread_create(&f->tree_thread, NULL, record_tree, f->tree) == 0;
	if (f->has_tree_thread)
		pthread_setname_np(f->tree_thread, "ptap-tree");
	return 0;
}

void fan_out_own_start(struct fan_out *f)
{
	struct session_request *request = make_request(f);
	int r;

	f->is_own_done = 1;
	if (!request)
		return;
	f->is_own_done = 0;
	r = subprocesses_are_wanted(request) ? take_tree(f, request)
					     : session_take(f->session, request);
	if (!r)
		return;
	f->is_own_done = 1;
	fan_out_host_fail(f->own,
		r == -ENOMEM ? "out of memory" : "busy: another profiling session is active");
}

int fan_out_own_await(struct fan_out *f, int is_cancelled)
{
	/* There was no thread for it: they stop later than all others. */
	if (f->tree && !f->has_tree_thread)
		subprocesses_record(f->tree);
	if (!is_cancelled)
		is_cancelled = errand_await_or_cancel(f->errand, &f->is_own_done);
	if (is_cancelled)
		session_cancel(f->session, f->errand->call);
	errand_await(f->errand, &f->is_own_done);
	if (f->has_tree_thread)
		pthread_join(f->tree_thread, NULL);
	return is_cancelled;
}
