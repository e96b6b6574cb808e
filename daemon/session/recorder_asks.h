/* SPDX-License-Identifier: Apache-2.0 */
/* What calls ask of the flight recorder (session_recorder.h), done. Threads: the worker's. */
#ifndef DAEMON_RECORDER_ASKS_H
#define DAEMON_RECORDER_ASKS_H

struct session;

/* Those that have come, in their order, until one has to wait for a snapshot that is being made. */
void recorder_asks_serve(struct session *s);

#endif
