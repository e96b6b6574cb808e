/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting of interrupts; see interrupt.h. One thread waits for the signals and all others
 * block them: gRPC starts its waits anew after each EINTR, so repeated signals would keep
 * gRPC from returning.
 */
#include "client/process/interrupt.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* The first three are counted if there is no |program|, the others are only forwarded to it. */
static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
#define N_COUNTED 3
/* interrupt_settle() waits so long for the counting thread. */
#define SETTLE_MS 1000
#define LAST_MS 100
#define N_SIGNALS (sizeof signals / sizeof signals[0])

static _Atomic int n_interrupts;
static _Atomic pid_t program; /* the program that gets the forwarded signals; 0: none */
static int wake_fd = -1; /* an eventfd, readable from an interrupt until interrupt_poll() sees it */

/*
 * Returns whether the signal is not to be counted. A signal from another process is forwarded to
 * the program. A signal from the terminal is not, because the program is in the same process
 * group and gets it, too.
 */
static bool forward_signal(const siginfo_t *info)
{
	pid_t pid = atomic_load(&program);

	if (pid && info->si_code <= 0)
		kill(pid, info->si_signo);
	for (size_t i = N_COUNTED; i < N_SIGNALS; i++)
		if (info->si_signo == signals[i])
			return true;
	return pid != 0;
}

static void *count_signals(void *argument)
{
	const sigset_t *set = argument;
	uint64_t one = 1;
	siginfo_t info;

	for (;;) {
		if (sigwaitinfo(set, &info) < 0 || forward_signal(&info))
			continue;
		atomic_fetch_add(&n_interrupts, 1);
		if (write(wake_fd, &one, sizeof one) < 0)
			continue; /* the counter is full, so wake_fd is readable anyway */
	}
	return NULL;
}

/*
 * An ignored SIGHUP stays ignored, for nohup. An ignored SIGINT does not: shells without job
 * control start background jobs with SIGINT ignored, but a script that sends SIGINT to a capture
 * wants the capture to end.
 */
static void collect_signals(sigset_t *set)
{
	size_t n = atomic_load(&program) ? N_SIGNALS : N_COUNTED;
	const struct sigaction dfl = {.sa_handler = SIG_DFL};
	struct sigaction old;

	sigemptyset(set);
	for (size_t i = 0; i < n; i++) {
		sigaction(signals[i], NULL, &old);
		if (signals[i] == SIGHUP && old.sa_handler == SIG_IGN)
			continue;
		sigaddset(set, signals[i]);
		/* An ignored signal would not even become pending. */
		sigaction(signals[i], &dfl, NULL);
	}
}

void interrupt_start(void)
{
	static sigset_t set;
	pthread_t thread;

	if (wake_fd >= 0)
		return;
	wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	collect_signals(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	/* If the thread cannot start, an interrupt ends the program, as is the default. */
	if (wake_fd < 0 || pthread_create(&thread, NULL, count_signals, &set))
		pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	else
		pthread_detach(thread);
}

void interrupt_hold(sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < N_SIGNALS; i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_BLOCK, &set, before);
}

void interrupt_forward(pid_t pid)
{
	atomic_store(&program, pid);
	if (pid)
		interrupt_start();
}

int interrupt_get_count(void)
{
	return atomic_load(&n_interrupts);
}

bool interrupt_came_since(const void *n_before)
{
	return interrupt_get_count() != *(const int *)n_before;
}

static bool is_pending(void)
{
	sigset_t set;

	if (sigpending(&set))
		return false;
	for (size_t i = 0; i < N_COUNTED; i++)
		if (sigismember(&set, signals[i]))
			return true;
	return false;
}

void interrupt_settle(void)
{
	for (int i = 0; i < SETTLE_MS && is_pending(); i++)
		usleep(1000);
	/* The counting thread may have taken the signal and not counted it yet. */
	interrupt_poll(NULL, LAST_MS);
}

int interrupt_poll(struct pollfd *p, int64_t timeout_ms)
{
	struct pollfd fds[2] = {{.fd = wake_fd, .events = POLLIN}, {.fd = -1}};
	uint64_t n;
	int r;

	if (p)
		fds[1] = *p;
	r = poll(fds, 2, timeout_ms > 0 ? (int)timeout_ms : 0);
	if (r < 0)
		return -errno;
	/* Another thread may have read the event first. */
	if (fds[0].revents && (read(wake_fd, &n, sizeof n) > 0 || r == 1))
		return -EINTR;
	if (p)
		p->revents = fds[1].revents;
	return r > 0;
}
