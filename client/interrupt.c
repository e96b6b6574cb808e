/* SPDX-License-Identifier: Apache-2.0 */
/* Counting of interrupts; see interrupt.h. */
#include "client/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t n_interrupts;

static void count(int signal)
{
	(void)signal;
	n_interrupts++;
}

void interrupt_start(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = count};
	struct sigaction old;

	n_interrupts = 0;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
		sigaction(signals[i], NULL, &old);
		/*
		 * nohup means it. Shells without job control start background jobs with SIGINT
		 * ignored, but a script that sends one to a capture wants it to end.
		 */
		if (signals[i] != SIGHUP || old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}

int interrupt_get_count(void)
{
	return n_interrupts;
}
