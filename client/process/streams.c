/* SPDX-License-Identifier: Apache-2.0 */
/* The standard streams; see streams.h. */
#include "client/process/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "base/diag.h"

/* The state before streams_start(). */
static bool was_closed[STDERR_FILENO + 1];
static void (*file_size_action)(int);

void streams_start(void)
{
	/*
	 * open() takes the lowest free number. It opens for reading only, so that writing fails
	 * with EBADF.
	 */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		was_closed[fd] = fcntl(fd, F_GETFD) < 0 && errno == EBADF;
		if (was_closed[fd] && open("/dev/null", O_RDONLY) < 0)
			break;
	}
	file_size_action = signal(SIGXFSZ, SIG_IGN);
}

void streams_expect_pipe(void)
{
	signal(SIGPIPE, SIG_IGN);
}

void streams_give_back(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (was_closed[fd])
			close(fd);
	signal(SIGXFSZ, file_size_action);
}

/* The first failure: a second fflush() would not report it again. */
static int first_error;

int streams_fail(int r)
{
	if (!first_error)
		fprintf(stderr, "standard output: cannot write: %s\n", errno_words(-r));
	first_error = first_error ? first_error : r;
	return first_error;
}

int streams_finish(void)
{
	if (first_error)
		return first_error;
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	return streams_fail(errno ? -errno : -EIO);
}
