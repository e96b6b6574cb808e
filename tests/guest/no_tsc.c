/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forbids itself the processor's counter: reading it is SIGSEGV. Before the start, or one thread only, later.
 * usage: no_tsc before|after
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/guest/guest.h"

static void annotate(int n)
{
	for (int i = 0; i < n; i++) {
		PTAP_SPAN("span");
		usleep(100);
	}
}

static void forbid(void)
{
	if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0))
		printf("cannot be forbidden here\n");
}

static void *forbid_and_annotate(void *unused)
{
	forbid();
	annotate(7);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc > 1 && strcmp(argv[1], "before") == 0)
		forbid();
	GUEST_START();
	annotate(20);
	pthread_create(&thread, NULL, forbid_and_annotate, NULL);
	pthread_join(thread, NULL);
	printf("done\n");
	return 0;
}
