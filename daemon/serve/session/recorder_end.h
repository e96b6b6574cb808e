/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles the end of the flight recorder and of a continuous session when their program is gone. If
 * the program died, the recorder's data is written as a run to the operator's directory. Without
 * such a directory, or if writing fails, the server holds the data (hold.h) for the program's user
 * and root. The data of a session is held in the same way.
 */
#ifndef DAEMON_RECORDER_END_H
#define DAEMON_RECORDER_END_H

#include <stdbool.h>

struct capture_result;
struct session;

/*
 * Called after session_close(). Returns after clients have taken all held data or it was given up;
 * later calls are refused. Only the worker's thread calls it.
 */
void recorder_end(struct session *s);

/*
 * Keeps the |result| of a continuous session if the program has died before any call asked for the
 * data. Then it takes |result|, and the session stays occupied until recorder_end() frees it.
 * Returns false if the caller still owns |result|. Only the worker's thread calls it.
 */
bool recorder_end_keep(struct session *s, struct capture_result *result);

/*
 * Returns true if the program has died and its data is held, or may soon be held. Any thread may
 * call it.
 */
bool recorder_end_holds(struct session *s);

#endif
