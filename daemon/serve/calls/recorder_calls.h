/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whom calls of proftap.v1 mean: a continuous session or the flight recorder. Both are asked in the same way, and what they say
 * is as reply_v1_refusal() takes it. All take their request, as session_take() does.
 */
#ifndef DAEMON_RECORDER_CALLS_H
#define DAEMON_RECORDER_CALLS_H

struct session;
struct session_request;

int recorder_call_start(struct session *s, struct session_request *request);
/*
 * Of the session |session_id|, the recorder's name, or "": the continuous session that runs, else the recorder; with
 * |request|->last_ms the recorder.
 */
int recorder_call_snapshot(
	struct session *s, const char *session_id, struct session_request *request);
/* The end of either, or of none of them. */
int recorder_call_stop(struct session *s, const char *session_id, struct session_request *request);
/* Whether that would end the recorder. */
int recorder_call_is_meant(struct session *s, const char *session_id);

#endif
