/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs many threads, each with SPANS spans: in groups one after the other, or all at the same time.
 * usage: crowd THREADS GROUP
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/guest/guest.h"

#define SPANS 10
#define STACK_BYTES (64u << 10)
#define MAX_GROUP 2000

static pthread_barrier_t all_have_recorded;

static void *annotate(void *unused)
{
	for (int i = 0; i < SPANS; i++) {
		PTAP_SPAN("short");
	}
	pthread_barrier_wait(&all_have_recorded);
	return unused;
}

static int run_group(int n)
{
	static pthread_t threads[MAX_GROUP];
	pthread_attr_t attr;
	int failed = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_barrier_init(&all_have_recorded, NULL, (unsigned)n);
	for (int i = 0; i < n && !failed; i++)
		failed = pthread_create(&threads[i], &attr, annotate, NULL);
	for (int i = 0; i < n && !failed; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&all_have_recorded);
	return failed;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[1]) : 0;
	int group = argc > 2 ? atoi(argv[2]) : 1;

	if (group > MAX_GROUP)
		return 2;
	GUEST_START();
	for (int i = 0; i < n; i += group)
		if (run_group(group))
			return 1;
	printf("%d threads\n", n);
	return 0;
}
