/* SPDX-License-Identifier: Apache-2.0 */
/* How a recorded program ends; see ending.h. */
#include "tests/integration/ending.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <proftap/proftap.h>

static void leave_no_core(void)
{
	const struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
}

void ending_crash(char *arguments)
{
	(void)arguments;
	leave_no_core();
	PTAP_BEGIN("doomed");
	/* A sanitizer has set a handler. */
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
}

void ending_abort(char *arguments)
{
	(void)arguments;
	leave_no_core();
	PTAP_BEGIN("doomed");
	signal(SIGABRT, SIG_DFL);
	abort();
}

void ending_exit(char *arguments)
{
	(void)arguments;
	PTAP_BEGIN("doomed");
	_exit(3);
}

static void *leave_open(void *unused)
{
	PTAP_BEGIN("left open");
	return unused;
}

void ending_thread(char *arguments)
{
	pthread_t thread;

	(void)arguments;
	if (pthread_create(&thread, NULL, leave_open, NULL) == 0)
		pthread_join(thread, NULL);
	printf("gone\n");
}

void ending_exec(char *arguments)
{
	char name[] = "target";
	char *argv[] = {name, NULL};

	(void)arguments;
	execv("/proc/self/exe", argv);
	printf("%s\n", strerror(errno));
}
