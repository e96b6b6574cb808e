/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flight recorder (recorder.h) as calls see it. It runs beside the session's one recording
 * (session.h) and blocks no capture. The worker serves the requests to it in their order, also
 * while it records something else.
 */
#ifndef DAEMON_SESSION_RECORDER_H
#define DAEMON_SESSION_RECORDER_H

struct session;
struct session_request;

/*
 * Turns it on, with |request|'s options. Takes |request|, also on failure, and wakes the worker:
 * |request|->begin is called when it records, |deliver| with why it does not otherwise. 0,
 * SESSION_BUSY (it is on already, or too many wait), or SESSION_CLOSED; then nothing is called. Any
 * thread, as all here that do not say otherwise.
 */
int session_recorder_start(struct session *s, struct session_request *request);
/*
 * Delivers to |request| the recorder's data of the last |request|->last_ms (0: all). The recorder
 * goes on without a gap. After the program's death this works while the data is held;
 * |request|->keeps: it stays held for others. Takes |request|. 0, SESSION_NONE (it is not on), or
 * SESSION_BUSY: too many requests wait.
 */
int session_recorder_snapshot(struct session *s, struct session_request *request);
/*
 * The same, and then it is off; with |request|->discards the outcome is CAPTURE_CANCELLED. 0 or
 * SESSION_NONE.
 */
int session_recorder_stop(struct session *s, struct session_request *request);
/*
 * Has the worker look at what was asked, also where it waits without a program to record. Any
 * thread.
 */
void session_recorder_wake(struct session *s);
/*
 * Somebody has taken what a dead program's recorder held, and did not want to leave it to others.
 */
void session_recorder_note_inherited(struct session *s);
/* Whether there is something to ask it for. */
int session_recorder_is_on(struct session *s);

#endif
