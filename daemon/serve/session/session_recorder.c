/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the flight recorder; see session_recorder.h. recorder_asks.c serves them. */
#include "daemon/serve/session/session_recorder.h"

#include "base/futex.h"
#include "daemon/serve/session/request_list.h"
#include "daemon/serve/session/session.h"
#include "daemon/serve/session/session_request.h"

/* Under the mutex. 0 or SESSION_BUSY. */
static int add(struct session *s, struct session_request *request)
{
	if (request_list_append(&s->recorder_asks, request, SESSION_MAX_WAITING))
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

/* Under the mutex: whether there is anybody who could do it. */
static int check(const struct session *s, enum recorder_ask ask)
{
	if (ask != RECORDER_START)
		return atomic_load(&s->has_recorder) ? 0 : SESSION_NONE;
	if (atomic_load(&s->is_closing))
		return SESSION_CLOSED;
	return atomic_load(&s->has_recorder) ? SESSION_BUSY : 0;
}

static int take(struct session *s, struct session_request *request, enum recorder_ask ask)
{
	int r;

	request->recorder_ask = ask;
	pthread_mutex_lock(&s->mutex);
	r = check(s, ask);
	if (!r)
		r = add(s, request);
	pthread_mutex_unlock(&s->mutex);
	if (r)
		session_request_free(request);
	else
		session_recorder_wake(s);
	return r;
}

int session_recorder_start(struct session *s, struct session_request *request)
{
	return take(s, request, RECORDER_START);
}

int session_recorder_snapshot(struct session *s, struct session_request *request)
{
	return take(s, request, RECORDER_SNAPSHOT);
}

int session_recorder_stop(struct session *s, struct session_request *request)
{
	return take(s, request, RECORDER_STOP);
}

void session_recorder_note_inherited(struct session *s)
{
	atomic_store(&s->is_inherited, 1);
	session_recorder_wake(s);
}

int session_recorder_is_on(struct session *s)
{
	return atomic_load(&s->has_recorder);
}
