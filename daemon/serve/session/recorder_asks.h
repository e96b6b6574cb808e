/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker serves the requests of calls to the flight recorder (session_recorder.h) here.
 * Threads: the worker's, unless stated.
 */
#ifndef DAEMON_RECORDER_ASKS_H
#define DAEMON_RECORDER_ASKS_H

struct rpc_call;
struct session;

/* Serves the requests in their order, until one has to wait for a snapshot that is being made. */
void recorder_asks_serve(struct session *s);

/*
 * Whether |call| may have the data of a dead program: only root and the program's user may, and
 * only by a Unix socket. Any thread.
 */
int recorder_asks_may_inherit(const struct session *s, struct rpc_call *call);

#endif
