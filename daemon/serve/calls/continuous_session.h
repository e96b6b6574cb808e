/* SPDX-License-Identifier: Apache-2.0 */
/* The session (session.h) as one without an end, which keeps the newest data that fits, and its snapshots. */
#ifndef DAEMON_CONTINUOUS_SESSION_H
#define DAEMON_CONTINUOUS_SESSION_H

struct session;
struct session_request;

/*
 * Begins one. As session_take(), or -ENOMEM; |request|->begin is called when it records, and |deliver| with why it does not
 * otherwise. Of subprocesses it has none: its trace says so where they are asked for. No call holds it: it ends by session_stop(),
 * session_terminate(), and with the program; of one that died its data is held as recorder_end.h says.
 */
int session_start_continuous(struct session *s, struct session_request *request);
/*
 * What the session |session_id| (NULL: whichever) recorded since its start or the snapshot before goes to
 * |request|->deliver; it goes on, without a gap. Takes |request|, as session_take() does. 0, SESSION_NONE, or
 * SESSION_BUSY: too many wait for theirs. CAPTURE_NO_TARGET when the session ends before.
 */
int session_snapshot(struct session *s, const char *session_id, struct session_request *request);
/*
 * The same for what is left, and the session ends. With |request|->discards the outcome is CAPTURE_CANCELLED. 0, or
 * SESSION_NONE, also when somebody else ends it.
 */
int session_stop(struct session *s, const char *session_id, struct session_request *request);
/* |request| gets what the client of the session that runs said of a place for files, if anything. 0 or -ENOMEM. */
int session_copy_place(struct session *s, struct session_request *request);
/* Whether the session that runs is a continuous one. */
int session_is_continuous(struct session *s);

/* The worker's part: the next snapshot of the one that runs, which is the caller's then; or NULL. */
struct session_request *session_next_snapshot(struct session *s);

#endif
