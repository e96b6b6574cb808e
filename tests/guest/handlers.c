/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotates in two signal handlers, which interrupt the program's annotations and each other. Each
 * annotation must be recorded or counted as lost. Writes the number of annotations to the file
 * "emitted".
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/guest/guest.h"

#define LENGTH_NS INT64_C(300000000)
/* A busy machine delivers fewer signals, so the work goes on until its handlers have run so often. */
#define MIN_HANDLED 1000
#define MAX_LENGTH_NS INT64_C(10000000000)
#define PAUSE_NS 8000
#define PERIOD_NS 40000

static _Atomic unsigned long n_emitted;
static _Atomic unsigned long n_handled;

static void count(unsigned long n)
{
	n_emitted += n;
}

static void on_signal(int number)
{
	PTAP_SPAN("handler");
	PTAP_INSTANT("signal");
	(void)number;
	count(2);
	n_handled++;
}

static timer_t start_timer(int number, long period_ns)
{
	struct sigaction action;
	struct sigevent event;
	struct itimerspec spec = {{0, period_ns}, {0, period_ns}};
	timer_t timer;

	memset(&action, 0, sizeof action);
	action.sa_handler = on_signal;
	action.sa_flags = SA_RESTART;
	sigaction(number, &action, NULL);
	memset(&event, 0, sizeof event);
	event.sigev_notify = SIGEV_SIGNAL;
	event.sigev_signo = number;
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &spec, NULL);
	return timer;
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Pauses keep the trace small: millions of spans would take long to read. */
static void work_for_a_while(void)
{
	int64_t start = now_ns();
	int64_t length = 0;

	while (length < LENGTH_NS || (n_handled < MIN_HANDLED && length < MAX_LENGTH_NS)) {
		int64_t now = now_ns();

		length = now - start;
		for (int i = 0; i < 2; i++) {
			PTAP_SPAN("work");
			PTAP_SPAN_ARGS("part", PTAP_I("i", i));
			count(2);
		}
		while (now_ns() < now + PAUSE_NS)
			;
	}
}

int main(void)
{
	timer_t one;
	timer_t two;
	FILE *f;

	GUEST_START();
	one = start_timer(SIGUSR1, PERIOD_NS);
	two = start_timer(SIGUSR2, PERIOD_NS * 3 / 2);
	work_for_a_while();
	timer_delete(one);
	timer_delete(two);
	f = fopen("emitted", "we");
	if (!f || fprintf(f, "%lu\n", n_emitted) < 0 || fclose(f))
		return 1;
	printf("done\n");
	return 0;
}
