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

/*
 * The server inherits the program's RLIMIT_STACK, and glibc gives that to threads. It may be less
 * than libdw needs.
 */
#define MIN_STACK_BYTES ((size_t)512 << 10)

static int create_thread(void *(*run)(void *context), void *context, pthread_t *out)
{
	pthread_attr_t attributes;
	size_t n_bytes;
	int r = pthread_attr_init(&attributes);

	if (r)
		return r;
	if (!pthread_attr_getstacksize(&attributes, &n_bytes) && n_bytes < MIN_STACK_BYTES)
		pthread_attr_setstacksize(&attributes, MIN_STACK_BYTES);
	r = pthread_create(out, &attributes, run, context);
	pthread_attr_destroy(&attributes);
	return r;
}

int thread_start(void *(*run)(void *context), void *context, pthread_t *out)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = create_thread(run, context, out);
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
