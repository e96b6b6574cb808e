/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of the flight recorder and of a continuous session when their program is gone. If the
 * program died, the recorder's last moments are written as a run to the operator's directory;
 * without one, or if that fails, they are held (hold.h) for the program's user and root. The data
 * of a session is held in the same way.
 */
#ifndef DAEMON_RECORDER_END_H
#define DAEMON_RECORDER_END_H

struct capture_result;
struct session;

/*
 * The session is closed. Returns when all is given back, and whoever asks later is told so. The
 * worker's thread.
 */
void recorder_end(struct session *s);

/*
 * A continuous session has ended with |result|. 1: the program has died and nobody had asked for
 * the data, which is taken; the session keeps its place until recorder_end() gives it up. 0: it is
 * still the caller's. The worker's thread.
 */
int recorder_end_keep(struct session *s, struct capture_result *result);

/*
 * Whether the program has died and what its recorder or session has is held, or may come to be. Any
 * thread.
 */
int recorder_end_holds(struct session *s);

#endif
