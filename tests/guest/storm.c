/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts its server in a storm of signals to its whole process group. Some signals have a handler,
 * some are blocked, some are ignored. Handlers may run only in this process. One that runs in
 * another process, with this memory, is counted in |n_strange|.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/guest/guest.h"

static pid_t self;
static atomic_int quit;
static atomic_int n_handled;
static atomic_int n_strange;

/*
 * ThreadSanitizer must not see the handler. It runs handlers late, with every signal blocked, at
 * the program's next atomic operation. If the handler has such an operation, too, and another
 * signal has arrived in the meantime, ThreadSanitizer saves the mask there and restores it later:
 * all signals stay blocked for ever (gcc 12; also without proftap).
 */
static __attribute__((no_sanitize("thread"))) void on_signal(int signal_number)
{
	(void)signal_number;
	n_handled++;
	if (syscall(SYS_getpid) != self)
		n_strange++;
}

static void *raise_all(void *unused)
{
	while (!quit) {
		kill(0, SIGUSR1);
		kill(0, SIGUSR2);
		kill(0, SIGRTMIN + 1);
		kill(0, SIGHUP);
	}
	return unused;
}

static void print_signals(void)
{
	sigset_t mask;
	struct sigaction action;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int i = 1; i <= 64; i++) {
		memset(&action, 0, sizeof action);
		sigaction(i, NULL, &action);
		/* The C library reserves 32 and 33. */
		if (i != 32 && i != 33)
			printf("%d%s%s%s ", i, sigismember(&mask, i) == 1 ? "b" : "",
				action.sa_handler == SIG_IGN ? "i" : "",
				action.sa_handler == on_signal ? "h" : "");
	}
	printf("\n");
}

static void prepare(void)
{
	sigset_t blocked;

	self = getpid();
	signal(SIGUSR1, on_signal);
	signal(SIGRTMIN + 1, on_signal);
	signal(SIGHUP, SIG_IGN);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR2);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
}

int main(void)
{
	pthread_t thread;

	if (setpgid(0, 0))
		return 2;
	prepare();
	pthread_create(&thread, NULL, raise_all, NULL);
	while (n_handled < 100)
		usleep(100);
	for (int i = 0; i < 10; i++) {
		GUEST_START();
		PTAP_SPAN("storm");
		if (i < 9)
			GUEST_STOP();
	}
	quit = 1;
	pthread_join(thread, NULL);
	print_signals();
	printf("handled elsewhere: %d\n", (int)n_strange);
	return n_handled < 100;
}
