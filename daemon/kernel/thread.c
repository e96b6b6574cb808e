/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions and threads; see thread.h. */
#include "daemon/kernel/thread.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

void cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attributes);
	pthread_condattr_destroy(&attributes);
}

int thread_start(void *(*run)(void *context), void *context, pthread_t *out)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(out, NULL, run, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -r;
}

int thread_start_detached(void *(*run)(void *context), void *context)
{
	pthread_t thread;
	int r = thread_start(run, context, &thread);

	if (!r)
		pthread_detach(thread);
	return r;
}
