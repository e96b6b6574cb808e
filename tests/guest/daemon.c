/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Becomes a daemon by the book: fork, setsid, fork, chdir, and close_range from 0. The first
 * process starts a server before that, and stops it. The daemon starts a server, too, and then
 * closes all descriptors again. It writes its output to a file, which the first process prints.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/guest/guest.h"

#define RESULT "daemon.result"
#define PARTIAL RESULT ".partial"

static char directory[4096];

static int say_all(void)
{
	char line[8192];
	int fds[3];
	int out;
	int n;

	for (int i = 0; i < 3; i++)
		fds[i] = open("/dev/null", O_RDWR);
	if (chdir(directory) || (out = open(PARTIAL, O_WRONLY | O_CREAT | O_TRUNC, 0600)) < 0)
		return 2;
	n = snprintf(line, sizeof line, "opened %d %d %d and %d; session %d\n", fds[0], fds[1],
		fds[2], out, getsid(0) != getpid());
	if (write(out, line, (size_t)n) != n || close(out))
		return 2;
	return rename(PARTIAL, RESULT) ? 2 : 0;
}

static int be_the_daemon(void)
{
	umask(0);
	if (chdir("/"))
		return 2;
	close_range(0, ~0U, 0);
	GUEST_START();
	close_range(0, ~0U, 0);
	PTAP_SPAN("daemon");
	return say_all();
}

static int print_result(void)
{
	char line[8192];
	FILE *f = NULL;

	for (int i = 0; i < 20000 && !f; i++) {
		f = fopen(RESULT, "r");
		if (!f)
			usleep(1000);
	}
	if (!f || !fgets(line, sizeof line, f))
		return 3;
	fputs(line, stdout);
	fclose(f);
	return 0;
}

int main(int argc, char **argv)
{
	int early = argc > 1 && argv[1][0] == 'e';
	int status = -1;
	pid_t pid;

	if (!getcwd(directory, sizeof directory))
		return 2;
	if (early)
		GUEST_START();
	pid = fork();
	if (pid == 0) {
		setsid();
		if (fork() != 0)
			_exit(4);
		_exit(be_the_daemon());
	}
	waitpid(pid, &status, 0);
	printf("first child: %#x\n", (unsigned)status);
	return print_result();
}
