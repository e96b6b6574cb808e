/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that nobody waits for: of what may not come back. */
#ifndef DAEMON_DETACHED_H
#define DAEMON_DETACHED_H

/* Runs |run| on a thread, with all signals blocked: they are for the others. 0 or a negative errno. */
int detached_start(void *(*run)(void *context), void *context);

#endif
