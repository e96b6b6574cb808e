/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds whether a call of proftap.v1 is for a continuous session or for the flight recorder, and
 * asks that one. The results are as reply_v1_refusal() takes them. All take their request, as
 * session_take() does.
 */
#ifndef DAEMON_RECORDER_CALLS_H
#define DAEMON_RECORDER_CALLS_H

struct session;
struct session_request;

int recorder_call_start(struct session *s, struct session_request *request);
/*
 * A snapshot of the session |session_id|; of the recorder for its name; for "" of the running
 * continuous session, else of the recorder. With |request|->last_ms always of the recorder.
 */
int recorder_call_snapshot(
	struct session *s, const char *session_id, struct session_request *request);
/* Ends the one or the other. */
int recorder_call_stop(struct session *s, const char *session_id, struct session_request *request);
/* Whether recorder_call_stop() would end the recorder. */
int recorder_call_is_meant(struct session *s, const char *session_id);

#endif
