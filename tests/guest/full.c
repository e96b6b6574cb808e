/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts its server when its table of descriptors is full, or has N free entries, and fills the
 * table afterwards.
 * usage: full N [fork] (with "fork", a forked child that is followed annotates, too)
 *        full N low    (descriptor 0 is free, too)
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/guest/guest.h"

static int fill(void)
{
	int last = -1;
	int fd;

	while ((fd = open("/dev/null", O_RDONLY)) >= 0)
		last = fd;
	printf("last %d, then %s\n", last, strerror(errno));
	return last;
}

static void fork_and_annotate(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		for (int i = 0; i < 3; i++) {
			PTAP_SPAN("child");
		}
		_exit(0);
	}
	waitpid(pid, &status, 0);
	printf("the child: %d\n", status);
}

int main(int argc, char **argv)
{
	int n_free = argc > 1 ? atoi(argv[1]) : 0;
	struct rlimit limit;
	bool is_low;
	int last;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 2;
	limit.rlim_cur = 20;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		return 2;
	last = fill();
	for (int i = 0; i < n_free; i++)
		close(last - i);
	is_low = argc > 2 && strcmp(argv[2], "low") == 0;
	if (is_low)
		close(STDIN_FILENO);
	else if (argc > 2)
		setenv("PROFTAP_FOLLOW_FORK", "1", 1);
	GUEST_START();
	if (argc > 2 && !is_low)
		fork_and_annotate();
	PTAP_SPAN("full");
	fill();
	close(last);
	return fill() != last;
}
