/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cancels threads: in spans, and in the start and the stop of a server, which have many
 * cancellation points. Other threads must be able to use what a cancelled thread held. With an
 * argument the program does not stop its server.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/guest/guest.h"

#define N_THREADS 50

static sem_t in_span;

static void *sleep_in_spans(void *unused)
{
	PTAP_SPAN("outer");
	PTAP_BEGIN("explicit");
	{
		PTAP_SPAN("done");
	}
	PTAP_SPAN("inner");
	sem_post(&in_span);
	pause();
	return unused;
}

static void *call_while_cancelled(void *call)
{
	pthread_cancel(pthread_self());
	((void (*)(void))call)();
	pthread_testcancel();
	return NULL;
}

static void start(void)
{
	GUEST_START();
}

static void stop(void)
{
	GUEST_STOP();
}

/* The thread's cancellation is pending before the call, and must take effect after it. */
static void cancel_in(const char *name, void (*call)(void))
{
	pthread_t thread;
	void *result;

	pthread_create(&thread, NULL, call_while_cancelled, (void *)call);
	pthread_join(thread, &result);
	printf("%s: %s\n", name, result == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
}

static void cancel_in_span(void)
{
	pthread_t thread;
	void *result;

	pthread_create(&thread, NULL, sleep_in_spans, NULL);
	sem_wait(&in_span);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	if (result != PTHREAD_CANCELED)
		printf("in a span: not cancelled\n");
}

int main(int argc, char **argv)
{
	(void)argv;
	sem_init(&in_span, 0, 0);
	cancel_in("start", start);
	GUEST_AWAIT();
	for (int i = 0; i < N_THREADS; i++)
		cancel_in_span();
	if (argc == 1) {
		cancel_in("stop", stop);
		stop();
	}
	printf("done\n");
	return 0;
}
