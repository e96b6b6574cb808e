/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions without an end; see continuous_session.h. */
#include "daemon/serve/calls/continuous_session.h"

#include <errno.h>
#include <string.h>

#include "daemon/serve/calls/subprocesses.h"
#include "daemon/serve/session/request_list.h"
#include "daemon/serve/session/session.h"
#include "daemon/serve/session/session_request.h"
#include "daemon/target/family.h"
#include "daemon/target/target.h"

/* Whoever asks for them is to know that they are not there. */
static int warn_of_subprocesses(struct session_request *request)
{
	if (!subprocesses_are_wanted(request))
		return 0;
	return capture_request_warn(&request->capture, SUBPROCESSES_KEY
		": not in a session without an end, which has this program only; ask for a capture of some length");
}

int session_start_continuous(struct session *s, struct session_request *request)
{
	if (warn_of_subprocesses(request)) {
		session_request_free(request);
		return -ENOMEM;
	}
	request->capture.keeps_newest = 1;
	request->capture.options.duration_ms = UINT64_MAX;
	request->capture.options.start_timestamp_ns = 0;
	return session_take(s, request);
}

/* Under the mutex. */
static int is_running(const struct session *s, const char *session_id)
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

int session_is_continuous(struct session *s)
{
	int r;

	pthread_mutex_lock(&s->mutex);
	r = s->request && s->request->capture.keeps_newest;
	pthread_mutex_unlock(&s->mutex);
	return r;
}

struct session_request *session_next_snapshot(struct session *s)
{
	struct session_request *request;

	pthread_mutex_lock(&s->mutex);
	request = s->snapshots ? request_list_unlink(&s->snapshots) : NULL;
	pthread_mutex_unlock(&s->mutex);
	return request;
}
