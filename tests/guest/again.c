/* SPDX-License-Identifier: Apache-2.0 */
/* Executes itself three times. It starts its server first each time, always on the same port. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/guest/guest.h"

int main(int argc, char **argv)
{
	char generation[16];
	int n = argc > 1 ? atoi(argv[1]) : 0;

	GUEST_START();
	{
		PTAP_SPAN("generation");
		printf("generation %d, pid stays: %d\n", n, argc < 3 || atoi(argv[2]) == getpid());
		fflush(stdout);
	}
	if (n < 3) {
		char pid[16];

		snprintf(generation, sizeof generation, "%d", n + 1);
		snprintf(pid, sizeof pid, "%d", (int)getpid());
		execl(argv[0], argv[0], generation, pid, (char *)NULL);
	}
	return n;
}
