/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions (session.h) without an end, which keep the newest data that fits into memory, and their
 * snapshots; and the choice between such a session and the flight recorder for calls of proftap.v1.
 */
#ifndef DAEMON_CONTINUOUS_SESSION_H
#define DAEMON_CONTINUOUS_SESSION_H

#include <stdbool.h>

struct session;
struct session_request;

/*
 * Starts a continuous session. Returns 0, a refusal like that of session_take(), or -ENOMEM.
 * |request|->begin is called when the session records, or |deliver| with the reason why it does
 * not. The session never records subprocesses: if the request asks for them, the trace has a
 * warning. It does not end with the call that started it, but by session_stop(),
 * session_terminate(), or the end of the program. If the program dies, its data is held
 * (recorder_end.h).
 */
int session_start_continuous(struct session *s, struct session_request *request);
/*
 * Delivers to |request| the data that the session |session_id| (NULL: the one that runs) has
 * recorded since its start or the last snapshot. The session goes on without a gap. Takes
 * |request|, as session_take() does. 0, SESSION_NONE, or SESSION_BUSY: too many snapshots wait. The
 * outcome is CAPTURE_NO_TARGET if the session ends first.
 */
int session_snapshot(struct session *s, const char *session_id, struct session_request *request);
/*
 * Delivers the rest of the data, and ends the session. With |request|->discards the outcome is
 * CAPTURE_CANCELLED. 0, or SESSION_NONE, also when somebody else ends it.
 */
int session_stop(struct session *s, const char *session_id, struct session_request *request);
/*
 * Copies to |request| the directory for files that the client of the running session named, if any.
 * 0 or -ENOMEM.
 */
int session_copy_place(struct session *s, struct session_request *request);
/* Returns true if the running session is a continuous one. */
bool session_is_continuous(struct session *s);

/*
 * Takes the next request for a snapshot of the running session, or returns NULL. Owner: the caller.
 * Only the worker's thread calls it.
 */
struct session_request *session_next_snapshot(struct session *s);

/*
 * Calls that a continuous session or the flight recorder may answer. Each returns 0, or a refusal
 * for reply_v1_refusal(). All take |request|, as session_take() does.
 */

int recorder_call_start(struct session *s, struct session_request *request);
/*
 * Takes a snapshot of the session |session_id|, or of the recorder if |session_id| is the
 * recorder's name or |request|->last_ms is set. "" selects the running continuous session, or the
 * recorder if there is none.
 */
int recorder_call_snapshot(
	struct session *s, const char *session_id, struct session_request *request);
/* Ends the session |session_id| or the recorder. */
int recorder_call_stop(struct session *s, const char *session_id, struct session_request *request);
/* Returns true if recorder_call_stop() would end the recorder. */
bool recorder_call_is_for_recorder(struct session *s, const char *session_id);

#endif
