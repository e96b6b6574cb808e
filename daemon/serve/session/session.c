/* SPDX-License-Identifier: Apache-2.0 */
/* The one recording at a time; see session.h. */
#include "daemon/serve/session/session.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/futex.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/session/arming.h"
#include "daemon/serve/session/session_request.h"
#include "daemon/target/family.h"
#include "daemon/target/target.h"

const char session_gone_text[] = "the program has ended";

void session_init(struct session *s, struct family *family, void (*on_gone)(void *), void *context)
{
	memset(s, 0, sizeof *s);
	s->family = family;
	s->on_gone = on_gone;
	s->heir = geteuid();
	s->context = context;
	pthread_mutex_init(&s->mutex, NULL);
}

/*
 * The worker may be between its last check of the flags and going to sleep. Then the wake-up has no
 * effect, so it is repeated. A busy worker needs none, because it checks before it sleeps.
 */
void session_wake_worker(struct session *s)
{
	while (atomic_load(&s->is_waiting) && !target_kick(s->family->main) &&
		atomic_load(&s->is_pending))
		usleep(50);
}

/* The caller has the mutex. */
static int occupy_session(struct session *s, struct session_request *request)
{
	if (s->request)
		return SESSION_BUSY;
	request->taken_ns = monotonic_ns();
	s->request = request;
	atomic_store(&s->stop, 0);
	atomic_store(&s->cancel, 0);
	return 0;
}

void session_nudge(struct session *s)
{
	target_kick(s->family->main);
	atomic_fetch_add(&s->recorder_news, 1);
	futex_wake(&s->recorder_news, 1);
}

void session_raise(struct session *s, _Atomic int *flag)
{
	atomic_store(flag, 1);
	session_nudge(s);
}

/* The caller has the mutex. */
static int enqueue_request(struct session *s, struct session_request *request)
{
	struct session_request **at = &s->waiting;

	if (request_list_count(s->waiting) == SESSION_MAX_WAITING)
		return SESSION_BUSY;
	while (*at && (*at)->capture.options.start_timestamp_ns <=
			      request->capture.options.start_timestamp_ns)
		at = &(*at)->next;
	request->next = *at;
	*at = request;
	return 0;
}

/* --- callers ---------------------------------------------------------------------------------- */

/*
 * Ends a recording that yields. Returns true if |request| then only has to wait for its end. The
 * caller has the mutex.
 */
static bool makes_room(struct session *s, struct session_request *request)
{
	if (!s->request || !s->request->yields || request->yields)
		return false;
	session_raise(s, &s->stop);
	request->due_ns = 0;
	return true;
}

static int take_request(struct session *s, struct session_request *request)
{
	if (atomic_load(&s->is_closing))
		return SESSION_CLOSED;
	if (arming_begin(s, request) || makes_room(s, request))
		return enqueue_request(s, request);
	return occupy_session(s, request);
}

int session_take(struct session *s, struct session_request *request)
{
	int r;

	pthread_mutex_lock(&s->mutex);
	r = take_request(s, request);
	if (!r)
		atomic_store(&s->is_pending, 1);
	pthread_mutex_unlock(&s->mutex);
	if (r)
		session_request_free(request);
	else
		session_wake_worker(s);
	return r;
}

void session_describe(struct session *s, char *text, size_t n)
{
	text[0] = '\0';
	pthread_mutex_lock(&s->mutex);
	if (s->request && !s->request->yields)
		session_request_describe(s->request, text, n);
	pthread_mutex_unlock(&s->mutex);
}

void session_terminate(struct session *s, const char *session_id)
{
	struct session_request *unbegun;

	pthread_mutex_lock(&s->mutex);
	/* A continuous session is not ended here: its data goes to the call that stops it. */
	if (s->request && !s->request->capture.keeps_newest &&
		request_has_id(s->request, session_id))
		session_raise(s, &s->stop);
	unbegun = request_list_pick(&s->waiting, request_has_id, session_id);
	pthread_mutex_unlock(&s->mutex);
	request_list_end_unbegun(unbegun);
}

/*
 * Takes the first waiting request from its list: session_end() ends it for the session_id "" if it
 * can end none that runs. The caller has the mutex.
 */
static struct session_request *pick_first(struct session *s)
{
	return s->waiting ? request_list_unlink(&s->waiting) : NULL;
}

int session_end(struct session *s, const char *session_id, bool discards)
{
	bool is_any = !session_id[0];
	struct session_request *unbegun = NULL;
	int r = 0;

	pthread_mutex_lock(&s->mutex);
	if (s->request && is_any && s->request->trace) {
		r = SESSION_OWN;
	} else if (s->request && !s->request->capture.keeps_newest &&
		   (is_any || request_has_id(s->request, session_id))) {
		session_raise(s, discards ? &s->cancel : &s->stop);
	} else {
		unbegun = is_any ? pick_first(s)
				 : request_list_pick(&s->waiting, request_has_id, session_id);
		r = unbegun ? 0 : SESSION_NONE;
	}
	pthread_mutex_unlock(&s->mutex);
	if (discards)
		request_list_tell(unbegun, CAPTURE_CANCELLED, "");
	else
		request_list_end_unbegun(unbegun);
	return r;
}

void session_get_gpu(struct session *s, char out[STATUS_GPU_BYTES])
{
	pthread_mutex_lock(&s->mutex);
	memcpy(out, s->gpu, STATUS_GPU_BYTES);
	pthread_mutex_unlock(&s->mutex);
}

void session_note_gpu(struct session *s, const char *text)
{
	if (!text[0])
		return;
	pthread_mutex_lock(&s->mutex);
	snprintf(s->gpu, sizeof s->gpu, "%s", text);
	pthread_mutex_unlock(&s->mutex);
}

bool session_is_busy(struct session *s)
{
	bool is_busy;

	pthread_mutex_lock(&s->mutex);
	is_busy = s->request != NULL;
	pthread_mutex_unlock(&s->mutex);
	return is_busy;
}

void session_cancel(struct session *s, const struct rpc_call *call)
{
	struct session_request *waited;
	struct session_request *snapshots;
	struct session_request *recorder_requests;

	pthread_mutex_lock(&s->mutex);
	if (s->request && s->request->call == call)
		session_raise(s, &s->cancel);
	waited = request_list_pick(&s->waiting, request_is_of_call, call);
	snapshots = request_list_pick(&s->snapshots, request_is_of_call, call);
	recorder_requests = request_list_pick(&s->recorder_requests, request_is_of_call, call);
	pthread_mutex_unlock(&s->mutex);
	request_list_tell(recorder_requests, CAPTURE_CANCELLED, "");
	request_list_tell(waited, CAPTURE_CANCELLED, "");
	request_list_tell(snapshots, CAPTURE_CANCELLED, "");
}

void session_close(struct session *s)
{
	struct session_request *left[4] = {NULL, NULL, NULL, NULL};

	pthread_mutex_lock(&s->mutex);
	atomic_store(&s->is_closing, 1);
	atomic_store(&s->is_pending, 0);
	if (!s->rest) {
		left[0] = s->request;
		left[1] = s->stopper;
		left[2] = s->snapshots;
		s->request = s->stopper = s->snapshots = NULL;
	}
	left[3] = s->waiting;
	s->waiting = NULL;
	pthread_mutex_unlock(&s->mutex);
	for (size_t i = 0; i < sizeof left / sizeof left[0]; i++)
		request_list_tell(left[i], CAPTURE_NO_TARGET, session_gone_text);
}

/* --- the worker ------------------------------------------------------------------------------- */

/*
 * Admits the first request that is due. Returns true if it only has to wait for a recording that
 * yields. The caller has the mutex.
 */
static bool admit_due(struct session *s, int64_t now_ns)
{
	if (!s->waiting || s->waiting->due_ns > now_ns)
		return false;
	if (s->request)
		return makes_room(s, s->waiting);
	occupy_session(s, request_list_unlink(&s->waiting));
	return false;
}

int64_t session_tend(struct session *s)
{
	int64_t now_ns = monotonic_ns();
	struct session_request *late = NULL;
	char text[256];
	int64_t due_ns;

	pthread_mutex_lock(&s->mutex);
	if (!admit_due(s, now_ns))
		late = request_list_pick(&s->waiting, arming_is_late, &now_ns);
	due_ns = s->waiting ? s->waiting->due_ns : INT64_MAX;
	pthread_mutex_unlock(&s->mutex);
	session_describe(s, text, sizeof text);
	request_list_tell(late, CAPTURE_BUSY, text);
	return due_ns;
}

struct session_request *session_get_request(struct session *s)
{
	struct session_request *request;

	pthread_mutex_lock(&s->mutex);
	request = s->request;
	pthread_mutex_unlock(&s->mutex);
	return request;
}

int session_occupy(struct session *s, struct session_request *request)
{
	int r;

	pthread_mutex_lock(&s->mutex);
	r = atomic_load(&s->is_closing) ? SESSION_CLOSED : occupy_session(s, request);
	pthread_mutex_unlock(&s->mutex);
	return r;
}

struct rpc_call *session_note_begun(struct session *s)
{
	struct rpc_call *call;

	pthread_mutex_lock(&s->mutex);
	call = s->request->call;
	s->request->call = NULL;
	pthread_mutex_unlock(&s->mutex);
	return call;
}

struct session_request *session_release(struct session *s)
{
	struct session_request *stopper;
	struct session_request *late;

	pthread_mutex_lock(&s->mutex);
	stopper = s->stopper;
	late = s->snapshots;
	s->request = s->stopper = s->snapshots = NULL;
	pthread_mutex_unlock(&s->mutex);
	request_list_tell(late, CAPTURE_NO_TARGET, session_gone_text);
	return stopper;
}
