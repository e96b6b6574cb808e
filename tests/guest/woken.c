/* SPDX-License-Identifier: Apache-2.0 */
/* A signal wakes this program; it set the signal's handler before its server started. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/guest/guest.h"

#define LONG_S 20

static volatile sig_atomic_t n_alarms;

static void on_alarm(int number)
{
	(void)number;
	n_alarms++;
}

int main(void)
{
	struct sigaction action;
	unsigned left;

	memset(&action, 0, sizeof action);
	action.sa_handler = on_alarm;
	sigaction(SIGALRM, &action, NULL);
	GUEST_START();
	{
		PTAP_SPAN("asleep");
		ualarm(50000, 0);
		left = sleep(LONG_S);
	}
	printf("woken early: %d, by %d alarm\n", left > 0, (int)n_alarms);
	return 0;
}
