/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes children in every way that Linux offers. Each child annotates. Only the annotations of a
 * vfork child may be recorded, because it is still its parent's thread.
 */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/guest/guest.h"

extern char **environ;

static void work(void)
{
	PTAP_SPAN("work");
}

static void print_end(const char *how, pid_t pid)
{
	int status = -1;
	pid_t got = waitpid(pid, &status, 0);

	printf("%s: %d, status %#x, more: %d\n", how, got == pid, (unsigned)status,
		waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD);
}

static void run_fork(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		PTAP_SPAN("in a fork");
		_exit(1);
	}
	print_end("fork", pid);
}

static void run_bare_fork(void)
{
	pid_t pid = _Fork();

	if (pid == 0) {
		PTAP_SPAN("in a bare fork");
		_exit(2);
	}
	print_end("_Fork", pid);
}

/* The child leaves a span open. It is dropped when the span around it ends. */
static void run_vfork(void)
{
	PTAP_SPAN("around vfork");
	pid_t pid = vfork();

	if (pid == 0) {
		PTAP_BEGIN("left open");
		work();
		execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
		_exit(127);
	}
	print_end("vfork", pid);
}

static void run_spawn(void)
{
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)"exit 4", NULL};
	pid_t pid = -1;
	int r = posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ);

	printf("posix_spawn %d\n", r);
	print_end("posix_spawn", pid);
}

static void run_shells(void)
{
	char line[64] = "";
	FILE *f;

	printf("system %#x\n", (unsigned)system("exit 5"));
	f = popen("echo from popen; exit 6", "r");
	if (f && fgets(line, sizeof line, f))
		printf("%s", line);
	printf("pclose %#x\n", f ? (unsigned)pclose(f) : 0);
}

static void run_all(void)
{
	run_fork();
	run_bare_fork();
	run_vfork();
	run_spawn();
	run_shells();
	work();
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	run_all();
	GUEST_START();
	run_all();
	GUEST_STOP();
	run_all();
	return 7;
}
