/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts its server, and becomes a daemon by daemon(): the process that started the server ends at
 * once. The daemon starts its own server, on the same port if the driver names one.
 */
#include <stdio.h>
#include <unistd.h>

#include "tests/guest/guest.h"

static void work(void)
{
	PTAP_SPAN("work");
	usleep(1000);
}

int main(void)
{
	GUEST_START();
	work();
	if (daemon(1, 1))
		return 2;
	GUEST_START();
	work();
	printf("session %d\n", getsid(0) != getpid());
	return 0;
}
