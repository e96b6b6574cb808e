/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of the flight recorder when its program is gone: of one that died the last moments are a run in the operator's
 * directory; without one, or if that cannot be written, they are held (hold.h) for whoever is the program's user or root.
 */
#ifndef DAEMON_RECORDER_END_H
#define DAEMON_RECORDER_END_H

struct session;

/* The session is closed. Returns when all is given back, and whoever asks later is told so. The worker's thread. */
void recorder_end(struct session *s);

/* Whether the program has died and what its recorder has is held, or may come to be. Any thread. */
int recorder_end_holds(const struct session *s);

#endif
