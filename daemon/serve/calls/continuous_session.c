/* SPDX-License-Identifier: Apache-2.0 */
/* Continuous sessions; see continuous_session.h. */
#include "daemon/serve/calls/continuous_session.h"

#include <errno.h>
#include <string.h>

#include "daemon/serve/calls/subprocesses.h"
#include "daemon/serve/message/request.h"
#include "daemon/serve/session/session.h"
#include "daemon/serve/session/session_recorder.h"
#include "daemon/serve/session/session_request.h"
#include "daemon/target/family.h"

/* Warns a client that asks for subprocesses that the trace will not have them. */
static int warn_of_subprocesses(struct session_request *request)
{
	if (!subprocesses_are_wanted(request))
		return 0;
	return capture_request_warn(&request->capture, SUBPROCESSES_KEY
		": ignored: a session without an end records this program only; ask for a capture "
		"with a duration");
}

int session_start_continuous(struct session *s, struct session_request *request)
{
	if (warn_of_subprocesses(request)) {
		session_request_free(request);
		return -ENOMEM;
	}
	request->capture.keeps_newest = true;
	request->capture.options.duration_ms = UINT64_MAX;
	request->capture.options.start_timestamp_ns = 0;
	return session_take(s, request);
}

/* Under the mutex. */
static bool is_running(const struct session *s, const char *session_id)
{
	return s->request && s->request->capture.keeps_newest && !s->stopper &&
	       (!session_id || request_has_id(s->request, session_id));
}

static int add_snapshot(struct session *s, struct session_request *request)
{
	if (request_list_append(&s->snapshots, request, SESSION_MAX_WAITING))
		return SESSION_BUSY;
	session_nudge(s);
	return 0;
}

int session_snapshot(struct session *s, const char *session_id, struct session_request *request)
{
	int r;

	pthread_mutex_lock(&s->mutex);
	r = is_running(s, session_id) ? add_snapshot(s, request) : SESSION_NONE;
	pthread_mutex_unlock(&s->mutex);
	if (r)
		session_request_free(request);
	return r;
}

int session_stop(struct session *s, const char *session_id, struct session_request *request)
{
	int r = SESSION_NONE;

	pthread_mutex_lock(&s->mutex);
	if (is_running(s, session_id)) {
		s->stopper = request;
		session_raise(s, request->discards ? &s->cancel : &s->stop);
		r = 0;
	}
	pthread_mutex_unlock(&s->mutex);
	if (r)
		session_request_free(request);
	return r;
}

static int copy_text(const char *text, char **out)
{
	*out = text ? strdup(text) : NULL;
	return text && !*out ? -ENOMEM : 0;
}

int session_copy_place(struct session *s, struct session_request *request)
{
	int r = 0;

	pthread_mutex_lock(&s->mutex);
	if (is_running(s, NULL)) {
		r = copy_text(s->request->repository_root, &request->repository_root);
		if (!r)
			r = copy_text(s->request->host_name, &request->host_name);
	}
	pthread_mutex_unlock(&s->mutex);
	return r;
}

bool session_is_continuous(struct session *s)
{
	bool is_continuous;

	pthread_mutex_lock(&s->mutex);
	is_continuous = s->request && s->request->capture.keeps_newest;
	pthread_mutex_unlock(&s->mutex);
	return is_continuous;
}

struct session_request *session_next_snapshot(struct session *s)
{
	struct session_request *request;

	pthread_mutex_lock(&s->mutex);
	request = s->snapshots ? request_list_unlink(&s->snapshots) : NULL;
	pthread_mutex_unlock(&s->mutex);
	return request;
}

/* --- sessions and the flight recorder ------------------------------------------------------- */

/* NULL stands for the running session. */
static const char *id_or_any(const char *session_id)
{
	return session_id[0] ? session_id : NULL;
}

static bool is_recorder_name(const char *session_id)
{
	return strcmp(session_id, REQUEST_RECORDER_ID) == 0;
}

bool recorder_call_is_for_recorder(struct session *s, const char *session_id)
{
	if (session_id[0])
		return is_recorder_name(session_id);
	return !session_is_continuous(s) && session_recorder_is_on(s);
}

int recorder_call_start(struct session *s, struct session_request *request)
{
	int r = session_recorder_start(s, request);

	return r == SESSION_BUSY ? SESSION_RECORDER_ON : r;
}

/* Translates the recorder's refusal of a request for data. */
static int translate_refusal(int r)
{
	switch (r) {
	case SESSION_NONE:
		return SESSION_NO_RECORDER;
	case SESSION_BUSY:
		return SESSION_FULL;
	default:
		return r;
	}
}

static int ask_recorder(struct session *s, struct session_request *request)
{
	bool has_last = request->last_ms != 0;
	int r = translate_refusal(session_recorder_snapshot(s, request));

	/* Only the recorder can use last_ms, so a running continuous session is no replacement. */
	return r == SESSION_NO_RECORDER && has_last && session_is_continuous(s) ? SESSION_NO_LAST
										: r;
}

int recorder_call_snapshot(
	struct session *s, const char *session_id, struct session_request *request)
{
	bool is_for_session =
		session_id[0] ? !is_recorder_name(session_id) : session_is_continuous(s);

	if (is_for_session && !request->last_ms)
		return session_snapshot(s, id_or_any(session_id), request);
	return ask_recorder(s, request);
}

int recorder_call_stop(struct session *s, const char *session_id, struct session_request *request)
{
	if (recorder_call_is_for_recorder(s, session_id))
		return translate_refusal(session_recorder_stop(s, request));
	return session_stop(s, id_or_any(session_id), request);
}
