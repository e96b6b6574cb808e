/* SPDX-License-Identifier: Apache-2.0 */
/* Annotations in chosen numbers; see workload.h. */
#include "tests/programs/workload.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <proftap/proftap.h>

#define MAX_THREADS 8
#define N_STEADY 3
#define POLL_US 50
#define STEADY_PAUSE_US 100
#define FLOOD_BATCH 2000
#define FLOOD_PAUSE_US 1000
#define HEAVY_BATCH 500
#define HEAVY_PAUSE_US 300

struct worker {
	pthread_t thread;
	char name[16];
	int index;
	int n_rounds;
	_Atomic int tid;
	_Atomic uint64_t *n_done; /* in the shared file; NULL: rounds are not counted */
};

/*
 * Asks the kernel: the vDSO reads the processor's counter, which a target may have forbidden itself
 * (own_clock.h).
 */
int64_t workload_clock_ns(clockid_t clock)
{
	struct timespec t;

	syscall(SYS_clock_gettime, clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void workload_await(int level)
{
	while (!ptap_enabled(level))
		usleep(POLL_US);
}

void workload_await_early(void)
{
	while (!(ptap_impl_word() & 3u))
		usleep(POLL_US);
}

void workload_burst(char *arguments)
{
	int n = atoi(arguments);

	for (int i = 0; i < n; i++) {
		PTAP_SPAN("burst");
	}
	printf("%d\n", n);
}

void workload_async(char *arguments)
{
	uint64_t id = 0;

	if (sscanf(arguments, "begin %" SCNu64, &id) == 1)
		PTAP_ASYNC_BEGIN("request", id);
	else if (sscanf(arguments, "end %" SCNu64, &id) == 1)
		PTAP_ASYNC_END("request", id);
	printf("%" PRIu64 "\n", id);
}

static struct {
	uint64_t n;
	uint64_t n_ids;
	unsigned begin_noise;
	unsigned end_noise;
	int64_t longest_ns;
	sem_t begun;
	sem_t ended;
} requests;

static void make_noise(unsigned n)
{
	while (n--) {
		PTAP_SPAN("noise");
	}
}

static void *begin_requests(void *unused)
{
	ptap_thread_name("beginner");
	for (uint64_t i = 0; i < requests.n; i++) {
		int64_t before_ns = workload_clock_ns(CLOCK_MONOTONIC);
		int64_t took_ns;

		PTAP_ASYNC_BEGIN("request", i % requests.n_ids);
		make_noise(requests.begin_noise);
		sem_post(&requests.begun);
		sem_wait(&requests.ended);
		took_ns = workload_clock_ns(CLOCK_MONOTONIC) - before_ns;
		if (took_ns > requests.longest_ns)
			requests.longest_ns = took_ns;
	}
	return unused;
}

static void *end_requests(void *unused)
{
	ptap_thread_name("ender");
	for (uint64_t i = 0; i < requests.n; i++) {
		sem_wait(&requests.begun);
		PTAP_ASYNC_END("request", i % requests.n_ids);
		make_noise(requests.end_noise);
		sem_post(&requests.ended);
	}
	return unused;
}

void workload_requests(char *arguments)
{
	pthread_t threads[2];

	requests.longest_ns = 0;
	sscanf(arguments, "%" SCNu64 " %u %u %" SCNu64, &requests.n, &requests.begin_noise,
		&requests.end_noise, &requests.n_ids);
	sem_init(&requests.begun, 0, 0);
	sem_init(&requests.ended, 0, 0);
	pthread_create(&threads[0], NULL, begin_requests, NULL);
	pthread_create(&threads[1], NULL, end_requests, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%lld\n", (long long)requests.longest_ns);
}

void workload_gauge(char *arguments)
{
	int n = 0;

	for (char *word = strtok(arguments, " "); word; word = strtok(NULL, " "), n++)
		PTAP_COUNTER("queue", atoi(word));
	printf("%d\n", n);
}

void workload_cycle(char *arguments)
{
	int n = 0;
	unsigned us = 0;

	sscanf(arguments, "%d %u", &n, &us);
	for (int i = 0; i < n; i++) {
		{
			PTAP_SPAN("cycle");
			PTAP_SPAN_ARGS("turn", PTAP_I("number", i));
		}
		if (us)
			usleep(us);
	}
	printf("%d\n", n);
}

void workload_count(char *arguments)
{
	int n = 0;
	unsigned us = 0;

	sscanf(arguments, "%d %u", &n, &us);
	for (int i = 0; i < n; i++) {
		PTAP_SPAN_ARGS("number", PTAP_I("n", i));
		if (us && i % 1000 == 0)
			usleep(1000 * us);
	}
	printf("%d\n", n);
}

void workload_spin(char *arguments)
{
	int64_t end_ns = workload_clock_ns(CLOCK_THREAD_CPUTIME_ID) + atoi(arguments) * 1000000LL;

	while (workload_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
		;
	printf("done\n");
}

void workload_flood(char *arguments)
{
	int n = atoi(arguments);

	for (int i = 0; i < n; i++) {
		PTAP_SPAN("wave");
		PTAP_SPAN_ARGS("flood", PTAP_I("number", i));
		if (i % FLOOD_BATCH == FLOOD_BATCH - 1)
			usleep(FLOOD_PAUSE_US);
	}
	printf("%d\n", n);
}

/* Negative numbers take the most bytes. */
static void emit_heavy(int64_t i)
{
	PTAP_SPAN_ARGS("heavy", PTAP_I("a", -i), PTAP_I("b", -2 * i), PTAP_I("c", -3 * i),
		PTAP_I("d", -4 * i), PTAP_I("e", -5 * i), PTAP_I("f", -6 * i), PTAP_I("g", -7 * i),
		PTAP_I("h", -8 * i));
}

void workload_heavy(char *arguments)
{
	int n = atoi(arguments);

	for (int i = 0; i < n; i++) {
		emit_heavy(i);
		if (i % HEAVY_BATCH == HEAVY_BATCH - 1)
			usleep(HEAVY_PAUSE_US);
	}
	printf("%d\n", n);
}

static const char *make_label(int i)
{
	static _Thread_local char text[40];

	snprintf(text, sizeof text, "label-0123456789-abcdefghijk-%07d", i);
	return text;
}

void workload_label(char *arguments)
{
	int n = atoi(arguments);

	for (int i = 0; i < n; i++) {
		PTAP_SPAN_ARGS("labelled", PTAP_S("label", make_label(i)));
		if (i % HEAVY_BATCH == HEAVY_BATCH - 1)
			usleep(HEAVY_PAUSE_US);
	}
	printf("%d\n", n);
}

void workload_name(char *arguments)
{
	int n = atoi(arguments);

	for (int i = 0; i < n; i++) {
		PTAP_SPAN_DYN(make_label(i));
		if (i % HEAVY_BATCH == HEAVY_BATCH - 1)
			usleep(HEAVY_PAUSE_US);
	}
	printf("%d\n", n);
}

static void measure(useconds_t us)
{
	int64_t unix_ns = workload_clock_ns(CLOCK_REALTIME);
	int64_t before_ns = workload_clock_ns(CLOCK_MONOTONIC);

	{
		PTAP_SPAN("paced");
		usleep(us);
	}
	printf(" %lld:%lld", (long long)unix_ns,
		(long long)(workload_clock_ns(CLOCK_MONOTONIC) - before_ns));
}

void workload_paced(char *arguments)
{
	int n = 0;
	unsigned us = 0;

	sscanf(arguments, "%d %u", &n, &us);
	for (int i = 0; i < n; i++)
		measure(us);
	printf("\n");
}

void workload_step(char *arguments)
{
	int level = 0;
	unsigned ms = 0;

	sscanf(arguments, "%d %u", &level, &ms);
	workload_await(level);
	{
		PTAP_STEP("slow", 7);
		usleep(ms * 1000);
	}
	printf("done\n");
}

/* Emits one of each annotation. test_recording.py expects these numbers, too. */
static void emit_round(int index, int i)
{
	char file[32];

	snprintf(file, sizeof file, "file %d", i);
	PTAP_SPAN("outer");
	{
		PTAP_SPAN_LEVEL(2, "informative");
	}
	{
		PTAP_SPAN_LEVEL(3, "verbose");
	}
	{
		PTAP_SPAN_DYN(file);
	}
	{
		PTAP_SPAN_ARGS("args", PTAP_I("i", -i), PTAP_U("u", UINT64_MAX - (uint64_t)i),
			PTAP_F("f", i + 0.25), PTAP_S("s", file),
			PTAP_P("p", (void *)(size_t)(0x1000 + i)));
	}
	{
		PTAP_STEP("train", INT64_C(10000000000) + i);
	}
	PTAP_BEGIN("pair");
	PTAP_INSTANT("tick");
	PTAP_INSTANT_DYN(file);
	PTAP_END();
	PTAP_COUNTER("queue", index * 1000 + i);
	PTAP_COUNTER("load", index + i / 4.0);
}

/* Every second thread sets its name only with the kernel. */
static void set_name(struct worker *w)
{
	if (w->index % 2)
		prctl(PR_SET_NAME, w->name, 0, 0, 0);
	else
		ptap_thread_name(w->name);
	atomic_store(&w->tid, (int)gettid());
}

static void *emit_rounds(void *argument)
{
	struct worker *w = argument;

	set_name(w);
	workload_await(1);
	for (int i = 0; i < w->n_rounds; i++)
		emit_round(w->index, i);
	return NULL;
}

void workload_threads(char *arguments)
{
	struct worker workers[MAX_THREADS] = {0};
	int n = 0;

	for (char *word = strtok(arguments, " "); word && n < MAX_THREADS;
		word = strtok(NULL, " ")) {
		struct worker *w = &workers[n];

		w->index = n++;
		if (sscanf(word, "%15[^=]=%d", w->name, &w->n_rounds) == 2)
			pthread_create(&w->thread, NULL, emit_rounds, w);
	}
	for (int i = 0; i < n; i++)
		pthread_join(workers[i].thread, NULL);
	for (int i = 0; i < n; i++)
		printf("%s=%d%s", workers[i].name, workers[i].tid, i + 1 < n ? " " : "\n");
}

/* The names contain the round's number: they show a test which round is missing. */
static void emit_counted(struct worker *w, int i)
{
	char name[32];

	snprintf(name, sizeof name, "round %d", i);
	{
		PTAP_SPAN_DYN(name);
		{
			PTAP_SPAN("inner");
		}
		PTAP_INSTANT("tick");
	}
	atomic_fetch_add(w->n_done, 1);
}

static void *emit_for_ever(void *argument)
{
	struct worker *w = argument;

	set_name(w);
	workload_await(1);
	PTAP_SPAN("life");
	for (int i = 0;; i++) {
		emit_counted(w, i);
		usleep(STEADY_PAUSE_US);
	}
	return NULL;
}

void workload_steady(char *arguments)
{
	static struct worker workers[N_STEADY];
	int fd = open(arguments, O_RDWR | O_CLOEXEC);
	_Atomic uint64_t *counts =
		mmap(NULL, N_STEADY * sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	close(fd);
	for (int i = 0; i < N_STEADY; i++) {
		struct worker *w = &workers[i];

		w->index = i;
		w->n_done = &counts[i];
		snprintf(w->name, sizeof w->name, "steady-%d", i);
		pthread_create(&w->thread, NULL, emit_for_ever, w);
		while (!atomic_load(&w->tid))
			usleep(POLL_US);
	}
	printf("%d %d %d\n", workers[0].tid, workers[1].tid, workers[2].tid);
}
