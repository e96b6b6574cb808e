/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses processor time in functions whose shares are known: half of it in burn_fifty(), 30 % in
 * burn_thirty() and 20 % in burn_twenty(), all below 20 calls of descend(). burn_fifty() runs inside
 * of the span "fifty", the others inside of "rest".
 *
 * usage: burn
 *
 * Prints its pid and port. The line "thread" on standard input starts one more thread, which is
 * named "later"; the end of standard input ends the program.
 */
#include <proftap/proftap.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEPTH 20
#define ROUNDS 10000

static _Thread_local volatile unsigned long sum;
static _Thread_local unsigned state = 1;

/*
 * Samples come in a fixed period, and would meet the same function again and again if all rounds
 * took equally long.
 */
static unsigned long choose_rounds(void)
{
	state = state * 1103515245 + 12345;
	return ROUNDS * (1 + (state >> 16) % 16) / 8;
}

/* gcc would make one function of three equal ones, so each adds another number. */
#define BURN(name, share, addend)                                                 \
	static __attribute__((noinline, noclone)) void name(unsigned long rounds) \
	{                                                                         \
		for (unsigned long i = 0; i < (share)*rounds; i++)                \
			sum += (addend);                                          \
	}

BURN(burn_fifty, 5, 3)
BURN(burn_thirty, 3, 5)
BURN(burn_twenty, 2, 7)

static void burn(void)
{
	unsigned long rounds = choose_rounds();

	{
		PTAP_SPAN("fifty");
		burn_fifty(rounds);
	}
	PTAP_SPAN("rest");
	burn_thirty(rounds);
	burn_twenty(rounds);
}

/* The work after the call keeps the compiler from making a loop of the recursion. */
static __attribute__((noinline, noclone)) void descend(int depth)
{
	if (depth > 1)
		descend(depth - 1);
	else
		burn();
	sum++;
}

static void *burn_for_ever(void *name)
{
	ptap_thread_name(name);
	for (;;)
		descend(DEPTH);
	return NULL;
}

int main(void)
{
	char line[32];
	pthread_t thread;

	if (ptap_server_start(0)) {
		fprintf(stderr, "%s\n", ptap_last_error());
		return 1;
	}
	pthread_create(&thread, NULL, burn_for_ever, "first");
	printf("%d %d\n", (int)getpid(), ptap_server_port());
	fflush(stdout);
	while (fgets(line, sizeof line, stdin))
		if (strcmp(line, "thread\n") == 0)
			pthread_create(&thread, NULL, burn_for_ever, "later");
	return 0;
}
