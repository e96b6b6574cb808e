/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forbids itself the processor's counter: a read raises SIGSEGV. It does so before the start; or
 * later, in one thread only; or before the start, with a forked child that is followed. usage:
 * no_tsc before|after|fork
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
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

static int fork_and_annotate(void)
{
	int status = -1;
	pid_t pid;

	forbid();
	setenv("PROFTAP_FOLLOW_FORK", "1", 1);
	GUEST_START();
	pid = fork();
	if (pid == 0) {
		annotate(9);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	printf("the child: %d\n", status);
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc > 1 && strcmp(argv[1], "fork") == 0)
		return fork_and_annotate();
	if (argc > 1 && strcmp(argv[1], "before") == 0)
		forbid();
	GUEST_START();
	annotate(20);
	pthread_create(&thread, NULL, forbid_and_annotate, NULL);
	pthread_join(thread, NULL);
	printf("done\n");
	return 0;
}
