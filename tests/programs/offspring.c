/* SPDX-License-Identifier: Apache-2.0 */
/* Children of a recorded program; see offspring.h. */
#include "tests/programs/offspring.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <proftap/proftap.h>

#define LIFE_S 60
#define PAUSE_US 500

static void annotate(int n)
{
	for (int i = 0; i < n; i++) {
		PTAP_SPAN("of the child");
		PTAP_COUNTER("of the child too", i);
	}
}

static _Noreturn void live(int n)
{
	int port = ptap_server_port();
	bool is_enabled = ptap_enabled(1);
	int r;

	alarm(LIFE_S);
	annotate(n);
	printf("%d %d %d\n", (int)getpid(), port, is_enabled);
	r = ptap_server_start(0);
	printf("%d %d %d\n", (int)getpid(), r, ptap_server_port());
	for (;;) {
		PTAP_SPAN("born");
		usleep(PAUSE_US);
	}
}

void offspring_fork(char *arguments)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		printf("fork: %s\n", strerror(errno));
	if (pid == 0)
		live(atoi(arguments));
}

void offspring_snapshot(char *arguments)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		printf("fork: %s\n", strerror(errno));
	if (pid == 0) {
		annotate(1);
		printf("%d\n", ptap_snapshot(arguments));
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

void offspring_spawn(char *arguments)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		alarm(LIFE_S);
		execl("/bin/sh", "sh", "-c", arguments, (char *)NULL);
		_exit(127);
	}
	printf("%d\n", (int)pid);
}
