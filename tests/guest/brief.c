/* SPDX-License-Identifier: Apache-2.0 */
/* A thread starts the server and ends at once; then the program's first thread ends, too. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/guest/guest.h"

static void *start(void *unused)
{
	GUEST_START();
	return unused;
}

static void *outlive(void *first)
{
	pthread_t *thread = first;
	int r = pthread_join(*thread, NULL);

	PTAP_SPAN("alone");
	printf("joined %d\n", r);
	fflush(stdout);
	exit(6);
}

int main(void)
{
	static pthread_t self;
	pthread_t thread;

	self = pthread_self();
	pthread_create(&thread, NULL, start, NULL);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, outlive, &self);
	pthread_exit(NULL);
}
