/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions (session.h) without an end, which keep the newest data that fits into memory, and their
 * snapshots.
 */
#ifndef DAEMON_CONTINUOUS_SESSION_H
#define DAEMON_CONTINUOUS_SESSION_H

struct session;
struct session_request;

/*
 * Begins one. As session_take(), or -ENOMEM; |request|->begin is called when it records, or
 * |deliver| with the reason why it does not. It never records subprocesses: if the request asks for
 * them, the trace has a warning. No call holds it: it ends by session_stop(), session_terminate(),
 * and with the program. If the program dies, its data is held (recorder_end.h).
 */
int session_start_continuous(struct session *s, struct session_request *request);
/*
 * Delivers to |request| the data that the session |session_id| (NULL: the one that runs) has
 * recorded since its start or the last snapshot. The session goes on without a gap. Takes
 * |request|, as session_take() does. 0, SESSION_NONE, or SESSION_BUSY: too many snapshots wait. The
 * outcome is CAPTURE_NO_TARGET if the session ends before.
 */
int session_snapshot(struct session *s, const char *session_id, struct session_request *request);
/*
 * Delivers the rest of the data, and ends the session. With |request|->discards the outcome is
 * CAPTURE_CANCELLED. 0, or SESSION_NONE, also when somebody else ends it.
 */
int session_stop(struct session *s, const char *session_id, struct session_request *request);
/*
 * Copies to |request| the place for files that the client of the running session named, if any. 0
 * or -ENOMEM.
 */
int session_copy_place(struct session *s, struct session_request *request);
/* Whether the session that runs is a continuous one. */
int session_is_continuous(struct session *s);

/*
 * The worker's part: the next snapshot of the one that runs, which is the caller's then; or NULL.
 */
struct session_request *session_next_snapshot(struct session *s);

#endif
