/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of calls to the flight recorder (recorder.h), which runs beside the session's one
 * recording (session.h) and blocks no capture. The worker serves these requests in order, also
 * while it records something else.
 *
 * Threads: any, unless stated.
 */
#ifndef DAEMON_SESSION_RECORDER_H
#define DAEMON_SESSION_RECORDER_H

#include <stdbool.h>

struct rpc_call;
struct session;
struct session_request;

/*
 * Turns the recorder on with the options of |request|, and wakes the worker. Takes |request|, on
 * failure as well. |request|->begin is called when the recorder runs, or |deliver| with the reason
 * if it cannot. 0; SESSION_BUSY: it is on already, or too many requests wait; or SESSION_CLOSED.
 * After a refusal neither is called.
 */
int session_recorder_start(struct session *s, struct session_request *request);
/*
 * Delivers to |request| the recorder's data of the last |request|->last_ms (0: all). The recorder
 * continues without a gap. After the program's death this works while the data is held; with
 * |request|->keeps the data stays held for others. Takes |request|. 0; SESSION_NONE: the recorder
 * is not on; or SESSION_BUSY: too many requests wait.
 */
int session_recorder_snapshot(struct session *s, struct session_request *request);
/*
 * Delivers the data likewise, and turns the recorder off. With |request|->discards the outcome is
 * CAPTURE_CANCELLED. 0, SESSION_NONE or SESSION_BUSY.
 */
int session_recorder_stop(struct session *s, struct session_request *request);
/* Wakes the worker, which serves the requests, also after the program's death. */
void session_recorder_wake(struct session *s);
/* Returns true if the recorder is on or its data is held. */
bool session_recorder_is_on(struct session *s);

/*
 * Serves the requests in order, until one must wait for a snapshot that is being made. The worker's
 * thread.
 */
void session_recorder_serve(struct session *s);

/*
 * Returns true if |call| may get the data of a dead program: only root and the program's user may,
 * and only by a Unix socket.
 */
bool session_recorder_may_inherit(const struct session *s, struct rpc_call *call);

#endif
