/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reaps every child that it has, with a SIGCHLD handler that counts: while the server starts, by a
 * thread that is blocked in wait4(-1, 0 or __WALL) from before; later, by the main thread. Or the
 * kernel reaps (SIG_IGN, SA_NOCLDWAIT). usage: reap handler|ignore|nocldwait|wall
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/guest/guest.h"

#define N_CHILDREN 5

static volatile sig_atomic_t n_sigchld;

static void on_sigchld(int signal_number)
{
	(void)signal_number;
	n_sigchld++;
}

static void set_disposition(const char *how)
{
	struct sigaction action;

	memset(&action, 0, sizeof action);
	action.sa_handler = strcmp(how, "ignore") == 0 ? SIG_IGN : on_sigchld;
	action.sa_flags = SA_RESTART;
	if (strcmp(how, "nocldwait") == 0)
		action.sa_flags |= SA_NOCLDWAIT;
	sigaction(SIGCHLD, &action, NULL);
}

static void print_disposition(void)
{
	struct sigaction action;

	sigaction(SIGCHLD, NULL, &action);
	printf("handler %d flags %#x\n", action.sa_handler == on_sigchld,
		(unsigned)action.sa_flags & ~0x04000000u);
}

/* Runs one child at a time, so that each has its own signal. */
static void run_child(int status, int options)
{
	PTAP_SPAN("child");
	int got = 0;
	int before = n_sigchld;
	pid_t pid = fork();

	if (pid == 0)
		_exit(status);
	errno = 0;
	if (wait4(-1, &got, options, NULL) == pid)
		printf("reaped %d, signals %d\n", WEXITSTATUS(got), (int)n_sigchld - before);
	else
		printf("not reaped: %s, signals %d\n", strerror(errno), (int)n_sigchld - before);
}

/* Reaps from before the start until the host has no child left. */
static void *reap_all(void *options)
{
	int status = 0;
	int n = 0;

	while (wait4(-1, &status, *(int *)options, NULL) > 0)
		n += status == 0;
	return (void *)(long)n;
}

/*
 * Starts the server while another thread waits for a child, which lives as long as the start takes.
 */
static void start_with_a_waiting_thread(int options)
{
	pthread_t thread;
	void *n;
	int fds[2];
	char byte;
	pid_t pid;

	if (pipe(fds))
		exit(2);
	pid = fork();
	if (pid == 0) {
		close(fds[1]);
		_exit(read(fds[0], &byte, 1) == 0 ? 1 : 2);
	}
	close(fds[0]);
	pthread_create(&thread, NULL, reap_all, &options);
	GUEST_START();
	close(fds[1]);
	pthread_join(thread, &n);
	/*
	 * With __WALL the thread may also reap the process that the start makes, so its count is
	 * not printed.
	 */
	if (!(options & __WALL))
		printf("reaped besides the child: %ld\n", (long)n);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "handler";
	int options = strcmp(how, "wall") == 0 ? __WALL : 0;

	setvbuf(stdout, NULL, _IONBF, 0);
	set_disposition(how);
	start_with_a_waiting_thread(options);
#ifndef __SANITIZE_THREAD__
	/* ThreadSanitizer loses this signal at times on a busy machine. */
	printf("signals %d\n", (int)n_sigchld);
#endif
	print_disposition();
	for (int i = 0; i < N_CHILDREN; i++)
		run_child(i, options);
	return wait4(-1, NULL, __WALL, NULL) != -1 || errno != ECHILD;
}
