/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions and threads. */
#ifndef DAEMON_THREAD_H
#define DAEMON_THREAD_H

#include <pthread.h>

void cond_init(pthread_cond_t *cond);

/*
 * Runs |run| on a thread, which the caller joins. All signals are blocked in it, so that other
 * threads get them. 0 or a negative errno.
 */
int thread_start(void *(*run)(void *context), void *context, pthread_t *out);
/* Does the same on a detached thread, for work that may never return. */
int thread_start_detached(void *(*run)(void *context), void *context);

#endif
