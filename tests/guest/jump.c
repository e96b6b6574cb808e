/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves spans by longjmp(): inside a span that ends properly, and without an outer span. */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>

#include "tests/guest/guest.h"

#define ROUNDS 200

static _Thread_local jmp_buf back;

static int leave(int depth)
{
	PTAP_SPAN("abandoned");
	if (depth == 0)
		longjmp(back, 1);
	return depth < 3 ? leave(depth - 1) + 1 : 0;
}

static void leave_stray(void)
{
	PTAP_SPAN("stray");
	longjmp(back, 1);
}

static int iterate(int i)
{
	PTAP_SPAN("iteration");
	if (setjmp(back) == 0)
		leave(i % 3);
	PTAP_SPAN("after");
	return 1;
}

static void *iterate_without_an_outer_span(void *unused)
{
	for (volatile int i = 0; i < ROUNDS; i++)
		if (setjmp(back) == 0)
			leave_stray();
	return unused;
}

int main(void)
{
	pthread_t thread;
	int n = 0;

	GUEST_START();
	for (int i = 0; i < ROUNDS; i++)
		n += iterate(i);
	pthread_create(&thread, NULL, iterate_without_an_outer_span, NULL);
	pthread_join(thread, NULL);
	printf("%d rounds\n", n);
	return 0;
}
