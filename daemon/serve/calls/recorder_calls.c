/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions and the flight recorder by name; see recorder_calls.h. */
#include "daemon/serve/calls/recorder_calls.h"

#include <string.h>

#include "daemon/serve/calls/continuous_session.h"
#include "daemon/serve/message/request.h"
#include "daemon/serve/session/session.h"
#include "daemon/serve/session/session_recorder.h"
#include "daemon/serve/session/session_request.h"

/* NULL is whichever runs. */
static const char *id_or_any(const char *session_id)
{
	return session_id[0] ? session_id : NULL;
}

static int is_recorders(const char *session_id)
{
	return strcmp(session_id, REQUEST_RECORDER_ID) == 0;
}

int recorder_call_is_meant(struct session *s, const char *session_id)
{
	if (session_id[0])
		return is_recorders(session_id);
	return !session_is_continuous(s) && session_recorder_is_on(s);
}

int recorder_call_start(struct session *s, struct session_request *request)
{
	int r = session_recorder_start(s, request);

	return r == SESSION_BUSY ? SESSION_RECORDER_ON : r;
}

/* Translates the recorder's refusal of a request for data. */
static int name_refusal(int r)
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
	int has_last = request->last_ms != 0;
	int r = name_refusal(session_recorder_snapshot(s, request));

	/* The running session has no last milliseconds. */
	return r == SESSION_NO_RECORDER && has_last && session_is_continuous(s) ? SESSION_NO_LAST
										: r;
}

int recorder_call_snapshot(
	struct session *s, const char *session_id, struct session_request *request)
{
	int is_sessions = session_id[0] ? !is_recorders(session_id) : session_is_continuous(s);

	if (is_sessions && !request->last_ms)
		return session_snapshot(s, id_or_any(session_id), request);
	return ask_recorder(s, request);
}

int recorder_call_stop(struct session *s, const char *session_id, struct session_request *request)
{
	if (recorder_call_is_meant(s, session_id))
		return name_refusal(session_recorder_stop(s, request));
	return session_stop(s, id_or_any(session_id), request);
}
