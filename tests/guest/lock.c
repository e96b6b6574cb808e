/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks all its memory before or after the start. In a recording it then uses a ring, too. Prints
 * whether the start and the lock filled shared memory that the program has not touched; they must
 * not. usage: lock before|after
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/guest/guest.h"
#include "tests/guest/memory.h"

/* More than the head of the arena and the rings of two threads, less than all rings. */
#define SMALL_KIB (16 << 10)

static void print_growth(const char *field, long before_kib)
{
	long grown_kib = memory_read_kib(field) - before_kib;

	if (grown_kib < SMALL_KIB)
		printf("%s: small\n", field);
	else
		printf("%s: %ld KiB more\n", field, grown_kib);
}

static void lock_all(void)
{
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		printf("mlockall failed\n");
}

static void *annotate(void *unused)
{
	for (int i = 0; i < 1000; i++) {
		PTAP_SPAN("locked");
	}
	return unused;
}

int main(int argc, char **argv)
{
	int before = argc > 1 && strcmp(argv[1], "before") == 0;
	long shared_kib = memory_read_kib("RssShmem:");
	pthread_t thread;

	if (before)
		lock_all();
	GUEST_START();
	if (!before)
		lock_all();
	pthread_create(&thread, NULL, annotate, NULL);
	annotate(NULL);
	pthread_join(thread, NULL);
	print_growth("RssShmem:", shared_kib);
	munlockall();
	return 0;
}
