/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of calls to the flight recorder; see recorder_asks.h. */
#include "daemon/serve/session/recorder_asks.h"

#include <string.h>
#include <sys/types.h>

#include "base/diag.h"
#include "daemon/kernel/unix_peer.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/session/recorder_work.h"
#include "daemon/serve/session/request_list.h"
#include "daemon/serve/session/session.h"
#include "daemon/serve/session/session_recorder.h"
#include "daemon/serve/session/session_request.h"
#include "rpc/server.h"

static void answer(struct session_request *request, int r, struct diag *d)
{
	struct capture_result nothing;

	memset(&nothing, 0, sizeof nothing);
	request->deliver(request, r, &nothing, d);
	session_request_free(request);
}

static void start(struct session *s, struct session_request *request)
{
	struct diag d = DIAG_INIT;
	int r = recorder_work_turn_on(s, &request->capture.options, &d);

	if (r) {
		answer(request, r, &d);
		return;
	}
	request->begin(request, request->call);
	session_request_free(request);
}

static void note_inherited(void *session)
{
	session_recorder_note_inherited(session);
}

static void deliver(void *context, int r, struct capture_result *result, struct diag *d)
{
	struct session_request *request = context;

	/* Until somebody has it, it is there for whoever asks again. */
	if (request->inherits) {
		result->on_taken = note_inherited;
		result->on_taken_context = request->inherits;
	}
	request->deliver(request, r, result, d);
	session_request_free(request);
}

/* NULL: there is nothing to be said. */
static const char *find_warning(const struct recorder_work *w)
{
	if (w->run.warning[0])
		return w->run.warning;
	return w->run.trouble[0] ? w->run.trouble : NULL;
}

static void snapshot(struct recorder_work *w, struct session_request *request)
{
	struct recorder_wish wish = {
		.last_ms = request->last_ms,
		.max_xspace_bytes = request->capture.max_xspace_bytes,
		.warning = find_warning(w),
		.deliver = deliver,
		.context = request,
	};

	if (w->is_held && !request->keeps)
		request->inherits = w->session;
	recorder_snapshot_take(&w->snapshot, &w->recorder, &wish);
}

static void look_back(struct recorder_work *w, struct session_request *request)
{
	/*
	 * The last run's warning, such as a child's end, belongs to that run; a held trace keeps
	 * its own.
	 */
	if (!w->is_held)
		w->run.warning[0] = '\0';
	snapshot(w, request);
}

static void stop(struct recorder_work *w, struct session_request *request)
{
	struct diag d = DIAG_INIT;

	if (request->discards) {
		recorder_work_turn_off(w);
		answer(request, CAPTURE_CANCELLED, &d);
		return;
	}
	if (!w->is_held) {
		w->is_last = 1;
		trigger_scan_finish(&w->scan, &w->recorder);
		triggers_describe_unwritten(
			&w->scan.triggers, w->run.warning, sizeof w->run.warning);
		/* Told before the snapshot is delivered: its client must find the recorder off. */
		recorder_work_tell(w->session, 0);
	}
	snapshot(w, request);
}

static struct session_request *next_ask(struct session *s)
{
	struct session_request *request;

	pthread_mutex_lock(&s->mutex);
	request = s->recorder_asks ? request_list_unlink(&s->recorder_asks) : NULL;
	pthread_mutex_unlock(&s->mutex);
	return request;
}

/* It was turned off after the request had come. */
static void tell_gone(struct session_request *request)
{
	request->next = NULL;
	request_list_tell(request, CAPTURE_NO_TARGET, session_gone_text);
}

int recorder_asks_may_inherit(const struct session *s, struct rpc_call *call)
{
	uid_t uid = (uid_t)-1;
	pid_t pid;

	return unix_peer_identify(rpc_call_get_connection(call), &pid, &uid) == 0 &&
	       (uid == 0 || uid == atomic_load(&s->heir));
}

static int may_inherit(const struct session *s, const struct session_request *request)
{
	return !request->call || recorder_asks_may_inherit(s, request->call);
}

static void do_ask(struct session *s, struct session_request *request)
{
	struct recorder_work *w = s->recorder_work;

	if (request->recorder_ask == RECORDER_START)
		start(s, request);
	else if (!w || !w->recorder.is_on || (w->is_held && !may_inherit(s, request)))
		tell_gone(request);
	else if (request->recorder_ask == RECORDER_SNAPSHOT)
		look_back(w, request);
	else
		stop(w, request);
}

void recorder_asks_serve(struct session *s)
{
	struct session_request *request;

	while (recorder_work_is_ready(s) && (request = next_ask(s)))
		do_ask(s, request);
}
