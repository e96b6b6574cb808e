/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of calls to the flight recorder; see session_recorder.h. */
#include "daemon/serve/session/session_recorder.h"

#include <string.h>
#include <sys/types.h>

#include "base/diag.h"
#include "base/futex.h"
#include "daemon/kernel/unix_peer.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/session/recorder_work.h"
#include "daemon/serve/session/session.h"
#include "daemon/serve/session/session_request.h"
#include "rpc/server.h"

/* --- calls ------------------------------------------------------------------------------------ */

/* 0 or SESSION_BUSY. The caller has the mutex. */
static int add_request(struct session *s, struct session_request *request)
{
	if (request_list_append(&s->recorder_requests, request, SESSION_MAX_WAITING))
		return SESSION_BUSY;
	atomic_store(&s->is_pending, 1);
	return 0;
}

void session_recorder_wake(struct session *s)
{
	session_wake_worker(s);
	atomic_fetch_add(&s->recorder_news, 1);
	futex_wake(&s->recorder_news, 1);
}

/* Returns 0 if the worker could do the action now, or the refusal. The caller has the mutex. */
static int check_action(const struct session *s, enum recorder_action action)
{
	if (action != RECORDER_START)
		return atomic_load(&s->has_recorder) ? 0 : SESSION_NONE;
	if (atomic_load(&s->is_closing))
		return SESSION_CLOSED;
	return atomic_load(&s->has_recorder) ? SESSION_BUSY : 0;
}

static int take_request(
	struct session *s, struct session_request *request, enum recorder_action action)
{
	int r;

	request->recorder_action = action;
	pthread_mutex_lock(&s->mutex);
	r = check_action(s, action);
	if (!r)
		r = add_request(s, request);
	pthread_mutex_unlock(&s->mutex);
	if (r)
		session_request_free(request);
	else
		session_recorder_wake(s);
	return r;
}

int session_recorder_start(struct session *s, struct session_request *request)
{
	return take_request(s, request, RECORDER_START);
}

int session_recorder_snapshot(struct session *s, struct session_request *request)
{
	return take_request(s, request, RECORDER_SNAPSHOT);
}

int session_recorder_stop(struct session *s, struct session_request *request)
{
	return take_request(s, request, RECORDER_STOP);
}

/* Notes that a client has taken a dead program's data, which need not be held any longer. */
static void session_recorder_note_inherited(struct session *s)
{
	atomic_store(&s->is_inherited, 1);
	session_recorder_wake(s);
}

bool session_recorder_is_on(struct session *s)
{
	return atomic_load(&s->has_recorder);
}

/* --- the worker ------------------------------------------------------------------------------- */

static void answer_request(struct session_request *request, int r, struct diag *d)
{
	struct capture_result nothing;

	memset(&nothing, 0, sizeof nothing);
	request->deliver(request, r, &nothing, d);
	session_request_free(request);
}

static void start_recorder(struct session *s, struct session_request *request)
{
	struct diag d = DIAG_INIT;
	int r = recorder_work_turn_on(s, &request->capture.options, &d);

	if (r) {
		answer_request(request, r, &d);
		return;
	}
	request->begin(request, request->call);
	session_request_free(request);
}

static void note_inherited(void *session)
{
	session_recorder_note_inherited(session);
}

static void deliver_snapshot(void *context, int r, struct capture_result *result, struct diag *d)
{
	struct session_request *request = context;

	/* The data stays held until a client has received it. */
	if (request->inherits) {
		result->on_taken = note_inherited;
		result->on_taken_context = request->inherits;
	}
	request->deliver(request, r, result, d);
	session_request_free(request);
}

/* Returns the warning for the snapshot, or NULL. */
static const char *find_warning(const struct recorder_work *w)
{
	if (w->run.warning[0])
		return w->run.warning;
	return w->run.trouble[0] ? w->run.trouble : NULL;
}

static void take_snapshot(struct recorder_work *w, struct session_request *request)
{
	struct recorder_wish wish = {
		.last_ms = request->last_ms,
		.max_xspace_bytes = request->capture.max_xspace_bytes,
		.warning = find_warning(w),
		.deliver = deliver_snapshot,
		.context = request,
	};

	if (w->is_held && !request->keeps)
		request->inherits = w->session;
	recorder_snapshot_take(&w->snapshot, &w->recorder, &wish);
}

static void snapshot_recorder(struct recorder_work *w, struct session_request *request)
{
	/*
	 * The last run's warning, such as that a child has ended, belongs only to that run; a held
	 * trace keeps its own.
	 */
	if (!w->is_held)
		w->run.warning[0] = '\0';
	take_snapshot(w, request);
}

static void stop_recorder(struct recorder_work *w, struct session_request *request)
{
	struct diag d = DIAG_INIT;

	if (request->discards) {
		recorder_work_turn_off(w);
		answer_request(request, CAPTURE_CANCELLED, &d);
		return;
	}
	if (!w->is_held) {
		w->is_last = true;
		trigger_scan_finish(&w->scan, &w->recorder);
		triggers_describe_unwritten(
			&w->scan.triggers, w->run.warning, sizeof w->run.warning);
		/*
		 * Turn the recorder off before the snapshot is delivered, because the client must
		 * find it off.
		 */
		recorder_work_tell(w->session, false);
	}
	take_snapshot(w, request);
}

static struct session_request *next_request(struct session *s)
{
	struct session_request *request;

	pthread_mutex_lock(&s->mutex);
	request = s->recorder_requests ? request_list_unlink(&s->recorder_requests) : NULL;
	pthread_mutex_unlock(&s->mutex);
	return request;
}

/*
 * Refuses a request, because the recorder is off or the caller may not have a dead program's data.
 */
static void tell_gone(struct session_request *request)
{
	request->next = NULL;
	request_list_tell(request, CAPTURE_NO_TARGET, session_gone_text);
}

bool session_recorder_may_inherit(const struct session *s, struct rpc_call *call)
{
	uid_t uid = (uid_t)-1;
	pid_t pid;

	return unix_peer_identify(rpc_call_get_connection(call), &pid, &uid) == 0 &&
	       (uid == 0 || uid == atomic_load(&s->heir));
}

static bool may_inherit(const struct session *s, const struct session_request *request)
{
	return !request->call || session_recorder_may_inherit(s, request->call);
}

static void serve_request(struct session *s, struct session_request *request)
{
	struct recorder_work *w = s->recorder_work;

	if (request->recorder_action == RECORDER_START)
		start_recorder(s, request);
	else if (!w || !w->recorder.is_on || (w->is_held && !may_inherit(s, request)))
		tell_gone(request);
	else if (request->recorder_action == RECORDER_SNAPSHOT)
		snapshot_recorder(w, request);
	else
		stop_recorder(w, request);
}

void session_recorder_serve(struct session *s)
{
	struct session_request *request;

	while (recorder_work_is_ready(s) && (request = next_request(s)))
		serve_request(s, request);
}
