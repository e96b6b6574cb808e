/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads that move from core to core. Each span has as arguments the value of CLOCK_MONOTONIC
 * right before it began, and its value right after the thread's previous span began. Commands and
 * answers have the form of tests/programs/target.
 *
 * 	start           starts a server; answers its port
 * 	clock SECONDS   emits spans for that time, once a capture records; answers how many in each
 * 	                thread
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <proftap/proftap.h>

#define N_THREADS 2
#define PAUSE_US 5000
#define SPANS_PER_CORE 10
#define NS_PER_S INT64_C(1000000000)

struct walker {
	pthread_t thread;
	int index;
	int64_t length_ns;
	int n;
};

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* Moves this thread to the next core that the process may use. */
static void go_to_next_core(const cpu_set_t *all, int *core)
{
	cpu_set_t one;

	do
		*core = (*core + 1) % CPU_SETSIZE;
	while (!CPU_ISSET(*core, all));
	CPU_ZERO(&one);
	CPU_SET(*core, &one);
	sched_setaffinity(0, sizeof one, &one);
}

/* Emits a span. Returns the time right after its begin. */
static int64_t emit(int n, int64_t last_after_ns)
{
	PTAP_SPAN_ARGS("tick", PTAP_I("n", n), PTAP_I("last_after", last_after_ns),
		PTAP_I("before", now_ns()));
	return now_ns();
}

static void *walk(void *argument)
{
	struct walker *w = argument;
	int core = w->index;
	int64_t after_ns = 0;
	int64_t end_ns;
	cpu_set_t all;
	char name[16];

	snprintf(name, sizeof name, "walker-%d", w->index);
	ptap_thread_name(name);
	sched_getaffinity(0, sizeof all, &all);
	while (!ptap_enabled(1))
		usleep(1000);
	end_ns = now_ns() + w->length_ns;
	while (now_ns() < end_ns) {
		if (w->n % SPANS_PER_CORE == 0)
			go_to_next_core(&all, &core);
		after_ns = emit(w->n++, after_ns);
		usleep(PAUSE_US);
	}
	return NULL;
}

static void walk_all(int seconds)
{
	struct walker walkers[N_THREADS] = {{0}};

	for (int i = 0; i < N_THREADS; i++) {
		walkers[i].index = i;
		walkers[i].length_ns = seconds * NS_PER_S;
		pthread_create(&walkers[i].thread, NULL, walk, &walkers[i]);
	}
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(walkers[i].thread, NULL);
	printf("%d %d\n", walkers[0].n, walkers[1].n);
}

static void start(void)
{
	int r = ptap_server_start(0);

	printf("%d %d 0\n", r, ptap_server_port());
}

int main(void)
{
	char line[64];

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("ready\n");
	while (fgets(line, sizeof line, stdin)) {
		if (strncmp(line, "start", 5) == 0)
			start();
		else
			walk_all(atoi(line + strcspn(line, " ")));
	}
	return 0;
}
