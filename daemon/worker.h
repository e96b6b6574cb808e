/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's loop: it runs the captures of the session one after the other. */
#ifndef DAEMON_WORKER_H
#define DAEMON_WORKER_H

struct session;

/*
 * Runs captures and delivers them until the target has ended. Calls s->on_gone when the end is
 * known, before the last capture is delivered; it may be called twice. Runs on the thread that
 * greeted the target.
 */
void worker_run(struct session *s);

#endif
