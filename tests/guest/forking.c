/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forks in a signal handler that interrupts annotations: the child comes back into the annotation
 * later, when its parent is far ahead, and ends behind it. Writes how many there were in the parent
 * into the file "emitted".
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

/* Nothing but annotations: most of the signals come within one. */
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
		/* The fork was in a signal handler between two annotations. */
		if (is_child)
			_exit(0);
		pause_for(PAUSE_NS);
	}
	/* Until the last child has come back. */
	while (wait(NULL) > 0)
		;
	f = fopen("emitted", "we");
	if (!f || fprintf(f, "%lu\n", n_emitted) < 0 || fclose(f))
		return 1;
	printf("done\n");
	return 0;
}
