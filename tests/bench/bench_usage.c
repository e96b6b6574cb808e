/* SPDX-License-Identifier: Apache-2.0 */
/* Measures microseconds per sample of a process's usage, with few threads and with many. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/pipeline/usage/usage.h"
#include "tests/bench/samples.h"

#define N_RUNS 21
#define STACK_BYTES (64u << 10)

static void *sleep_for_ever(void *unused)
{
	pause();
	return unused;
}

/* Writes to |fd| when all threads run. */
static void be_target(int n_threads, int fd)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (int i = 1; i < n_threads; i++)
		if (pthread_create(&thread, &attr, sleep_for_ever, NULL))
			_exit(1);
	if (write(fd, "r", 1) != 1)
		_exit(1);
	sleep_for_ever(NULL);
}

static pid_t start_target(int n_threads)
{
	int fds[2];
	char ready = 0;
	pid_t pid;

	if (pipe(fds))
		return -1;
	pid = fork();
	if (pid == 0)
		be_target(n_threads, fds[1]);
	close(fds[1]);
	if (read(fds[0], &ready, 1) != 1)
		fprintf(stderr, "%d threads: cannot be started\n", n_threads);
	close(fds[0]);
	return ready ? pid : -1;
}

/* Takes one sample, which may need several calls of usage_visit(). */
static double take_sample(struct usage *u, double *longest_us)
{
	size_t n = u->n_samples;
	double total = 0;

	u->due_ns = 1;
	while (u->n_samples == n) {
		double start = now_ns();
		double us;

		usage_visit(u);
		us = (now_ns() - start) / 1000;
		total += us;
		if (us > *longest_us)
			*longest_us = us;
	}
	return total;
}

static int measure(int n_threads)
{
	pid_t pid = start_target(n_threads);
	double longest_us = 0;
	double us[N_RUNS];
	struct usage u;

	if (pid < 0)
		return 1;
	usage_open(&u, "", pid, 100);
	/* The first pass also reads the names of threads. */
	take_sample(&u, &longest_us);
	longest_us = 0;
	for (int i = 0; i < N_RUNS; i++)
		us[i] = take_sample(&u, &longest_us);
	usage_close(&u);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	printf("usage %d threads %.1f us longest %.1f us\n", n_threads, median(us, N_RUNS),
		longest_us);
	return 0;
}

int main(void)
{
	return measure(10) | measure(1000);
}
