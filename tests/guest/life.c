/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotates before main() and after it: in a static constructor, which also starts the server, in
 * atexit() handlers, in a static destructor, and in destructors of thread-specific data.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/guest/guest.h"

#define N_THREADS 20

static pthread_key_t key;

static void annotate_at_thread_end(void *value)
{
	PTAP_SPAN("key destructor");
	/* Once more: the library's own thread-local state must live as long. */
	if (value == (void *)&key)
		pthread_setspecific(key, (void *)annotate_at_thread_end);
}

static void annotate_at_exit(void)
{
	PTAP_SPAN("atexit");
}

static __attribute__((constructor)) void start_before_main(void)
{
	GUEST_START();
	PTAP_SPAN("constructor");
	atexit(annotate_at_exit);
	pthread_key_create(&key, annotate_at_thread_end);
}

static __attribute__((destructor)) void annotate_after_main(void)
{
	PTAP_SPAN("destructor");
}

static void *live_and_die(void *unused)
{
	pthread_setspecific(key, &key);
	return unused;
}

int main(void)
{
	for (int i = 0; i < N_THREADS; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, live_and_die, NULL);
		pthread_join(thread, NULL);
	}
	printf("main\n");
	return 0;
}
