/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with 2 MiB of thread-local storage, and threads with the smallest stacks that this
 * allows.
 */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/guest/guest.h"

#define STORAGE_BYTES (2u << 20)
#define N_THREADS 20

static _Thread_local char storage[STORAGE_BYTES];

static void *annotate(void *unused)
{
	memset(storage, 1, sizeof storage);
	for (int i = 0; i < 10; i++) {
		PTAP_SPAN_ARGS("small", PTAP_I("i", i), PTAP_S("text", "an argument"));
		PTAP_SPAN_DYN("dynamic");
	}
	return unused;
}

int main(void)
{
	pthread_attr_t attr;
	int failed = 0;

	GUEST_START();
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STORAGE_BYTES + (size_t)sysconf(_SC_THREAD_STACK_MIN));
	for (int i = 0; i < N_THREADS; i++) {
		pthread_t thread;

		failed += pthread_create(&thread, &attr, annotate, NULL) ||
			  pthread_join(thread, NULL);
	}
	printf("%d threads failed\n", failed);
	return 0;
}
