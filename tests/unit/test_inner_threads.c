/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests finding the threads of a process by their ids in its pid namespace. The tests use this
 * process, whose threads have the same ids outside.
 */
#include "daemon/target/inner_threads.h"

#include <check.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/unit.h"

#define N_ROUNDS 20
#define N_ENDING 100
#define N_LOOKS 50

static struct inner_threads threads;
static int64_t now_ns;

struct waiting {
	pthread_t thread;
	_Atomic pid_t tid;
	sem_t end;
};

static void *wait_for_end(void *p)
{
	struct waiting *w = p;

	w->tid = gettid();
	sem_wait(&w->end);
	return NULL;
}

static void begin(struct waiting *w)
{
	w->tid = 0;
	sem_init(&w->end, 0, 0);
	ck_assert_int_eq(pthread_create(&w->thread, NULL, wait_for_end, w), 0);
	while (!w->tid)
		usleep(100);
}

static void end(struct waiting *w)
{
	sem_post(&w->end);
	pthread_join(w->thread, NULL);
	/* The kernel removes the thread a little later. */
	while (tgkill(getpid(), w->tid, 0) == 0)
		usleep(100);
}

static bool have(pid_t tid)
{
	return inner_threads_have(&threads, "", getpid(), tid, now_ns);
}

static void set_up(void)
{
	now_ns = NS_PER_S;
}

static void tear_down(void)
{
	inner_threads_free(&threads);
}

START_TEST(knows_live_threads)
{
	struct waiting w;

	begin(&w);
	ck_assert_int_eq(have(w.tid), 1);
	ck_assert_int_eq(have(getpid()), 1);
	end(&w);
	now_ns += 10 * NS_PER_S;
	ck_assert_int_eq(have(w.tid), 0);
	ck_assert_int_eq(have(getpid()), 1);
}
END_TEST

/* Only the first thread was known before the read. The others could have begun after it. */
START_TEST(ended_threads_are_known_at_the_next_look)
{
	struct waiting w[3];

	for (int i = 0; i < 3; i++)
		begin(&w[i]);
	for (int i = 0; i < 3; i++)
		end(&w[i]);
	ck_assert_int_eq(have(w[0].tid), 0);
	ck_assert_int_eq(have(w[1].tid), 1);
	ck_assert_int_eq(have(w[2].tid), 1);
	now_ns += NS_PER_S;
	ck_assert_int_eq(have(getpid()), 1);
	ck_assert_int_eq(have(w[1].tid), 0);
	/* The last read is too old: another thread could have this id by now. */
	now_ns += 20 * NS_PER_S;
	ck_assert_int_eq(have(getpid()), 1);
	ck_assert_int_eq(have(w[2].tid), 1);
	now_ns += NS_PER_S;
	ck_assert_int_eq(have(getpid()), 1);
	ck_assert_int_eq(have(w[2].tid), 0);
}
END_TEST

START_TEST(a_thread_that_came_later_is_found)
{
	struct waiting w;

	ck_assert_int_eq(have(getpid()), 1);
	begin(&w);
	now_ns += 10 * NS_PER_S;
	ck_assert_int_eq(have(w.tid), 1);
	end(&w);
}
END_TEST

START_TEST(rests_between_looks_and_takes_nobody_for_dead_meanwhile)
{
	struct waiting w;

	begin(&w);
	ck_assert_int_eq(have(w.tid), 1);
	end(&w);
	ck_assert_int_eq(have(w.tid), 1);
	ck_assert_int_eq(inner_threads_have(&threads, "", getpid(), w.tid, threads.due_ns - 1), 1);
}
END_TEST

START_TEST(thread_without_id_or_access_counts_as_alive)
{
	ck_assert_int_eq(have(0), 1);
	fake_root_make();
	ck_assert_int_eq(inner_threads_have(&threads, fake_root, 42, 7, now_ns), 1);
	fake_root_remove();
}
END_TEST

/* The kernel's list may break off at a thread that ends, and then lacks those that began later. */
START_TEST(live_thread_is_never_taken_for_dead_while_others_end)
{
	static struct waiting ending[N_ENDING];
	struct waiting last;

	for (int i = 0; i < N_ENDING; i++)
		begin(&ending[i]);
	begin(&last);
	for (int i = 0; i < N_ENDING; i++)
		sem_post(&ending[i].end);
	for (int i = 0; i < N_LOOKS; i++) {
		now_ns += 10 * NS_PER_S;
		ck_assert_int_eq(have(last.tid), 1);
	}
	for (int i = 0; i < N_ENDING; i++)
		pthread_join(ending[i].thread, NULL);
	end(&last);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(knows_live_threads),
	UNIT_TEST(ended_threads_are_known_at_the_next_look),
	UNIT_TEST(a_thread_that_came_later_is_found),
	UNIT_TEST(rests_between_looks_and_takes_nobody_for_dead_meanwhile),
	UNIT_TEST(thread_without_id_or_access_counts_as_alive),
	UNIT_LOOP(live_thread_is_never_taken_for_dead_while_others_end, N_ROUNDS),
	{NULL},
};

UNIT_MAIN("inner_threads", .set_up = set_up, .tear_down = tear_down, .tests = tests)
