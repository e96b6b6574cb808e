/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's loop: it records what the session holds, one after the other. */
#ifndef DAEMON_WORKER_H
#define DAEMON_WORKER_H

struct session;

/*
 * Runs captures and delivers them until the target is gone, and calls s->on_gone as soon as that is known, before the
 * last capture is delivered; maybe twice. On the thread that greeted the target.
 */
void worker_run(struct session *s);

#endif
