/* SPDX-License-Identifier: Apache-2.0 */
/* What calls ask of the flight recorder (session_recorder.h), done. Threads: the worker's, unless it says otherwise. */
#ifndef DAEMON_RECORDER_ASKS_H
#define DAEMON_RECORDER_ASKS_H

struct rpc_call;
struct session;

/* Those that have come, in their order, until one has to wait for a snapshot that is being made. */
void recorder_asks_serve(struct session *s);

/*
 * Whether |call| may have what a dead program left: no longer any local user's may, nor whoever came by a connection to its port that was
 * there. Any thread.
 */
int recorder_asks_may_inherit(const struct session *s, struct rpc_call *call);

#endif
