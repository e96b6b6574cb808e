/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts short-lived processes. Each announces itself to a host daemon, as an attached server does,
 * and exits at once.
 *
 * usage: brief REGISTRY N PER_SECOND
 *
 * The exit status is 1 if an announcement failed.
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
/* Limit of processes alive at a time; the others wait until the daemon has accepted these. */
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

/* Announces this process. Returns its exit status. */
static int live(const char *registry)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	snprintf(address.sun_path, sizeof address.sun_path, "%s", registry);
	if (connect(fd, (struct sockaddr *)&address, sizeof address))
		return 1;
	return say(fd);
}

/* Reaps ended children, at least |n|. Returns how many failed to announce themselves. */
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

/* Waits until the |i|th process is due. Returns at once if that time has passed. */
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
