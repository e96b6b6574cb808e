/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forks in a signal handler that interrupts annotations. The child returns into the annotation
 * later, when its parent is far ahead, and exits after it. The parent writes the number of its
 * annotations to the file "emitted".
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/guest/guest.h"

#define N_FORKS 100
#define SOON_US 20
#define PAUSE_NS 500000
#define LATE_NS (4 * PAUSE_NS)

static volatile sig_atomic_t n_forks;
static volatile sig_atomic_t is_child;

static void pause_for(long ns)
{
	struct timespec t = {0, ns};

	nanosleep(&t, NULL);
}

static void on_signal(int number)
{
	(void)number;
	n_forks++;
	if (fork() == 0) {
		is_child = 1;
		pause_for(LATE_NS);
	}
}

/* Does nothing but annotate, so that most signals interrupt an annotation. */
static unsigned long annotate(void)
{
	for (int i = 0; i < 10; i++) {
		if (is_child)
			_exit(0);
		PTAP_COUNTER("counter", i);
		if (is_child)
			_exit(0);
		PTAP_SPAN_ARGS("span", PTAP_I("i", i));
		if (is_child)
			_exit(0);
	}
	return 20;
}

int main(void)
{
	unsigned long n_emitted = 0;
	FILE *f;

	signal(SIGCHLD, SIG_IGN);
	signal(SIGALRM, on_signal);
	GUEST_START();
	for (int i = 0; i < N_FORKS; i++) {
		const struct itimerval soon = {{0, 0}, {0, SOON_US}};

		setitimer(ITIMER_REAL, &soon, NULL);
		while (n_forks == i)
			n_emitted += annotate();
		/* The signal handler forked between two annotations. */
		if (is_child)
			_exit(0);
		pause_for(PAUSE_NS);
	}
	/* Waits for the last child. */
	while (wait(NULL) > 0)
		;
	f = fopen("emitted", "we");
	if (!f || fprintf(f, "%lu\n", n_emitted) < 0 || fclose(f))
		return 1;
	printf("done\n");
	return 0;
}
