/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting of interrupts; see interrupt.h. A thread waits for the signals and every other one has them
 * blocked: gRPC starts its waits anew after each EINTR, so that a key that repeats would keep it from
 * ever returning.
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

/* The first three are counted, the others only go on to a program. */
static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
#define N_COUNTED 3
/* Until the thread that counts is given a processor. */
#define SETTLE_MS 1000
#define LAST_MS 100
#define N_SIGNALS (sizeof signals / sizeof signals[0])

static _Atomic int n_interrupts;
static _Atomic pid_t program; /* gets the signals instead; 0: none */
static int wake_fd = -1; /* readable when an interrupt came that interrupt_poll() has not seen */

/*
 * A signal from the terminal has reached the program, too, which is in the same group; one that somebody sent to
 * us was meant for it.
 */
static bool forward(const siginfo_t *info)
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
		if (sigwaitinfo(set, &info) < 0 || forward(&info))
			continue;
		atomic_fetch_add(&n_interrupts, 1);
		if (write(wake_fd, &one, sizeof one) < 0)
			continue; /* full: it is readable anyway */
	}
	return NULL;
}

/*
 * nohup means it. Shells without job control start background jobs with SIGINT ignored, but a script
 * that sends one to a capture wants it to end.
 */
static void collect(sigset_t *set)
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
		/* What is ignored would not even become pending. */
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
	collect(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	/* Without the thread an interrupt ends the program, as it would without us. */
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
	/* The thread has it, and may be about to count it. */
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
	/* Another thread may have taken it. */
	if (fds[0].revents && (read(wake_fd, &n, sizeof n) > 0 || r == 1))
		return -EINTR;
	if (p)
		p->revents = fds[1].revents;
	return r > 0;
}
