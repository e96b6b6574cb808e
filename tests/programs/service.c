/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A service in which some requests or steps are slow. A test checks that the report finds the
 * reason, which the argument selects:
 *
 * 	service evict    every 50th lookup finds the cache full, and evicts for 100 ms
 * 	service lock     every 400 ms a compaction holds the table's lock for 100 ms; lookups wait
 * 	service steps    a training in which every 25th step loads for 200 ms instead of 1 ms
 * 	service async    requests begin on one thread, end on another, and are slow during a "gc"
 * 	service jobs     requests wait for another thread, which at every 50th rebuilds an index for
 * 	                 100 ms
 *
 * A slow request takes far longer than any other request takes on a busy machine. The service
 * prints its port, and serves until it is killed, for LIFE_S seconds at most.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <proftap/proftap.h>

#define LIFE_S 300
#define N_WORKERS 3
#define US 1000L
#define MS 1000000L

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static atomic_long n_requests;

static void wait_ns(long ns)
{
	struct timespec t = {ns / 1000000000, ns % 1000000000};

	nanosleep(&t, NULL);
}

/* Uses |ns| of this thread's processor time. */
static void burn_ns(long ns)
{
	struct timespec start;
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec < ns);
}

static void parse(void)
{
	PTAP_SPAN("parse");
	burn_ns(100 * US);
}

/* --- evict --------------------------------------------------------------------------------- */

static void look_up_in_cache(long n)
{
	PTAP_SPAN("lookup");
	burn_ns(100 * US);
	if (n % 50 == 0) {
		PTAP_SPAN("evict");
		wait_ns(100 * MS);
	}
}

static void *serve_from_cache(void *unused)
{
	(void)unused;
	ptap_thread_name("worker");
	for (;;) {
		long n = ++n_requests;

		PTAP_BEGIN("request");
		parse();
		look_up_in_cache(n);
		PTAP_END();
		wait_ns(1 * MS);
	}
	return NULL;
}

/* --- lock ---------------------------------------------------------------------------------- */

static void look_up_in_table(void)
{
	PTAP_SPAN("lookup");
	pthread_mutex_lock(&table);
	burn_ns(20 * US);
	pthread_mutex_unlock(&table);
}

static void *serve_from_table(void *unused)
{
	(void)unused;
	ptap_thread_name("worker");
	for (;;) {
		PTAP_BEGIN("request");
		parse();
		look_up_in_table();
		PTAP_END();
		wait_ns(1 * MS);
	}
	return NULL;
}

static void *compact(void *unused)
{
	(void)unused;
	ptap_thread_name("compactor");
	for (;;) {
		pthread_mutex_lock(&table);
		PTAP_BEGIN("compaction");
		for (int i = 0; i < 4; i++) {
			PTAP_SPAN("merge");
			wait_ns(25 * MS);
		}
		PTAP_END();
		pthread_mutex_unlock(&table);
		wait_ns(300 * MS);
	}
	return NULL;
}

/* --- steps --------------------------------------------------------------------------------- */

static void *train(void *unused)
{
	(void)unused;
	ptap_thread_name("trainer");
	for (long n = 1;; n++) {
		PTAP_STEP("train", n);
		{
			PTAP_SPAN("load");
			wait_ns(n % 25 ? 1 * MS : 200 * MS);
		}
		{
			PTAP_SPAN("forward");
			burn_ns(4 * MS);
		}
	}
	return NULL;
}

/* --- async --------------------------------------------------------------------------------- */

static atomic_int is_collecting;

static void *collect(void *unused)
{
	(void)unused;
	ptap_thread_name("collector");
	for (;;) {
		wait_ns(150 * MS);
		is_collecting = 1;
		PTAP_BEGIN("gc");
		wait_ns(100 * MS);
		PTAP_END();
		is_collecting = 0;
	}
	return NULL;
}

static void *finish(void *number)
{
	while (is_collecting)
		wait_ns(100 * US);
	PTAP_ASYNC_END("request", (uint64_t)(uintptr_t)number);
	return NULL;
}

static void *take_in(void *unused)
{
	pthread_t thread;

	(void)unused;
	ptap_thread_name("front");
	for (uintptr_t n = 1;; n++) {
		PTAP_ASYNC_BEGIN("request", n);
		if (pthread_create(&thread, NULL, finish, (void *)n) == 0)
			pthread_join(thread, NULL);
		wait_ns(1 * MS);
	}
	return NULL;
}

/* --- jobs ---------------------------------------------------------------------------------- */

static sem_t asked;
static sem_t answered;
static atomic_ulong job;

static void *handle_jobs(void *unused)
{
	(void)unused;
	ptap_thread_name("handler");
	for (;;) {
		sem_wait(&asked);
		{
			PTAP_SPAN("handle");
			PTAP_FLOW_IN("job", job);
			burn_ns(100 * US);
			if (job % 50 == 0) {
				PTAP_SPAN("rebuild");
				wait_ns(100 * MS);
			}
			PTAP_FLOW_OUT("answer", job);
		}
		sem_post(&answered);
	}
	return NULL;
}

static void *hand_out_jobs(void *unused)
{
	(void)unused;
	ptap_thread_name("front");
	for (;;) {
		PTAP_BEGIN("request");
		PTAP_ASYNC_BEGIN("order", ++job);
		PTAP_FLOW_OUT("job", job);
		sem_post(&asked);
		{
			PTAP_SPAN("wait for answer");
			sem_wait(&answered);
			PTAP_FLOW_IN("answer", job);
		}
		PTAP_ASYNC_END("order", job);
		PTAP_END();
		wait_ns(1 * MS);
	}
	return NULL;
}

/* --- all ----------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	void *(*work)(void *);
	int n_threads;
	void *(*disturb)(void *); /* the thread that makes requests slow; NULL: none */
} services[] = {
	{"evict", serve_from_cache, N_WORKERS, NULL},
	{"lock", serve_from_table, N_WORKERS, compact},
	{"steps", train, 1, NULL},
	{"async", take_in, 1, collect},
	{"jobs", hand_out_jobs, 1, handle_jobs},
};

int main(int argc, char **argv)
{
	pthread_t thread;

	alarm(LIFE_S);
	sem_init(&asked, 0, 0);
	sem_init(&answered, 0, 0);
	for (size_t i = 0; argc == 2 && i < sizeof services / sizeof services[0]; i++) {
		if (strcmp(argv[1], services[i].name) != 0)
			continue;
		if (ptap_server_start(0)) {
			fprintf(stderr, "service: %s\n", ptap_last_error());
			return 1;
		}
		for (int k = 0; k < services[i].n_threads; k++)
			pthread_create(&thread, NULL, services[i].work, NULL);
		if (services[i].disturb)
			pthread_create(&thread, NULL, services[i].disturb, NULL);
		printf("service: port %d\n", ptap_server_port());
		fflush(stdout);
		pause();
	}
	fprintf(stderr, "usage: service evict|lock|steps|async|jobs\n");
	return 2;
}
