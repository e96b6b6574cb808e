/* SPDX-License-Identifier: Apache-2.0 */
/* Work in child processes; see child_work.h. */
#include "client/doctor/child_work.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "client/process/clock.h"
#include "client/process/streams.h"

static _Noreturn void do_work(int (*work)(const void *what), const void *what, int out)
{
	int code;
	int null = open("/dev/null", O_RDONLY);

	/*
	 * A process group of its own: processes that it starts are killed with it, and Ctrl-C only
	 * ends this process.
	 */
	setpgid(0, 0);
	streams_give_back();
	if (null >= 0)
		dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	code = work(what);
	fflush(stdout);
	_exit(code);
}

/* Reads until the end of the output. False: the time is over. */
static bool read_all(int fd, int timeout_ms, char *out, size_t n)
{
	int64_t end_ms = clock_monotonic_ms() + timeout_ms;
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	size_t used = 0;
	ssize_t r = 1;

	while (r) {
		char rest[256];
		int64_t left_ms = end_ms - clock_monotonic_ms();
		bool is_full = used == n - 1;

		if (left_ms <= 0)
			break;
		if (poll(&poll_fd, 1, (int)left_ms) <= 0)
			continue;
		r = is_full ? read(fd, rest, sizeof rest) : read(fd, out + used, n - 1 - used);
		if (r > 0 && !is_full)
			used += (size_t)r;
	}
	out[used] = '\0';
	if (used && out[used - 1] == '\n')
		out[used - 1] = '\0';
	return r <= 0;
}

static int reap_child(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -ECHILD;
}

int child_work_run(
	int (*work)(const void *what), const void *what, int timeout_ms, char *out, size_t n)
{
	int ends[2];
	bool is_over;
	pid_t child;
	int r;

	out[0] = '\0';
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	fflush(NULL);
	child = fork();
	if (child == 0)
		do_work(work, what, ends[1]);
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		return -EAGAIN;
	}
	setpgid(child, child);
	is_over = read_all(ends[0], timeout_ms, out, n);
	close(ends[0]);
	if (!is_over)
		kill(-child, SIGKILL);
	r = reap_child(child);
	return is_over ? r : -ETIMEDOUT;
}

/* The exit status of a shell that does not find a program. */
#define EXIT_NO_PROGRAM 127

static int execute_program(const void *what)
{
	const char *const *argv = what;

	execvp(argv[0], (char *const *)argv);
	return EXIT_NO_PROGRAM;
}

int child_work_run_program(const char *const *argv, char *out, size_t n)
{
	int r = child_work_run(execute_program, argv, CHILD_WORK_MS, out, n);

	return r == EXIT_NO_PROGRAM ? -ENOENT : r;
}
