/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that nobody waits for; see detached.h. */
#include "daemon/kernel/detached.h"

#include <pthread.h>
#include <signal.h>

int detached_start(void *(*run)(void *context), void *context)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	int r;

	sigfillset(&all);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&thread, &attributes, run, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return -r;
}
