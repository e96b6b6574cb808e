/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that say to a host daemon that they are there, as attached servers do, and end at once:
 * each a process of its own.
 *
 * usage: brief REGISTRY N PER_SECOND
 *
 * Ends with 1 when one of them was not heard.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000L
/* At a time: more wait for the daemon to hear them. */
#define MAX_ALIVE 200

static const char words[] = "PROFTAP PROGRAM 1\npid 1\nname brief\n";

static int say(int fd)
{
	int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	struct iovec text = {(void *)words, sizeof words - 1};
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof pidfd)];
	} control = {.head = {CMSG_LEN(sizeof pidfd), SOL_SOCKET, SCM_RIGHTS}};
	struct msghdr message = {.msg_iov = &text,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof control};

	memcpy(CMSG_DATA(&control.head), &pidfd, sizeof pidfd);
	return sendmsg(fd, &message, MSG_NOSIGNAL) == sizeof words - 1 ? 0 : 1;
}

/* Its exit status. */
static int live(const char *registry)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	snprintf(address.sun_path, sizeof address.sun_path, "%s", registry);
	if (connect(fd, (struct sockaddr *)&address, sizeof address))
		return 1;
	return say(fd);
}

/* Reaps ended children, |n| at least. Returns how many did not report. */
static int reap(int *n_alive, int n)
{
	int n_unheard = 0;
	int status;

	while (*n_alive > 0 && waitpid(-1, &status, n > 0 ? 0 : WNOHANG) > 0) {
		n_unheard += status != 0;
		--*n_alive;
		n--;
	}
	return n_unheard;
}

/* Until the |i|th is due; at once, when it is late. */
static void await_turn(const struct timespec *start, long i, long per_second)
{
	struct timespec due = *start;
	long ns = start->tv_nsec + i % per_second * (NS_PER_S / per_second);

	due.tv_sec += i / per_second + ns / NS_PER_S;
	due.tv_nsec = ns % NS_PER_S;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
}

int main(int argc, char **argv)
{
	struct timespec start;
	int n_unheard = 0;
	int n_alive = 0;

	if (argc != 4)
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (long i = 0; i < atol(argv[2]); i++) {
		pid_t pid;

		await_turn(&start, i, atol(argv[3]));
		pid = fork();
		if (pid == 0)
			_exit(live(argv[1]));
		n_alive += pid > 0;
		n_unheard += (pid < 0) + reap(&n_alive, n_alive >= MAX_ALIVE);
	}
	n_unheard += reap(&n_alive, n_alive);
	printf("%d were not heard\n", n_unheard);
	return n_unheard != 0;
}
