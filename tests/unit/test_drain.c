/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests emptying the rings of programs that behave well. Linked with -Wl,--wrap=target_has_thread.
 */
#include "daemon/pipeline/drain/drain.h"

#include <check.h>
#include <proftap/proftap.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/drain_fixture.h"
#include "tests/unit/unit.h"

static void add_samples(uint32_t *next, uint32_t n)
{
	while (n--)
		PTAP_COUNTER("n", (*next)++);
}

START_TEST(copies_everything_across_the_wrap)
{
	uint32_t next = 0;
	const struct thread_log *log;
	uint64_t used;

	PTAP_INSTANT("odd");
	drained_visit();
	used = drained.budget.used_bytes - SLOT_BYTES; /* the memory of the log itself */
	while (next < 3 * FIXTURE_SLOTS) {
		add_samples(&next, 1000);
		ck_assert_uint_eq(drained_visit(), 2000 * 1000u / FIXTURE_SLOTS);
		ck_assert_uint_eq(
			atomic_load(&drained.ring->tail), atomic_load(&drained.ring->head));
		next += next == 1000; /* leaves out a number, to test the check */
	}
	ck_assert_uint_eq(drained_visit(), 0);
	ck_assert_uint_eq(drained.drain.n_logs, 1);
	log = drained.drain.logs[0];
	ck_assert_uint_eq(log->n_slots, 1 + 2 * (next - 1));
	for (size_t i = 1, n = 0; i < log->n_slots; i += 2, n++) {
		n += n == 1000;
		ck_assert_uint_eq(record_kind(log->slots[i].word[0]), RECORD_COUNTER);
		ck_assert_uint_eq(log->slots[i + 1].word[1], n);
	}
	ck_assert_int_eq(log->tid, getpid());
	ck_assert_uint_eq(log->lost[LOSS_FULL], 0);
	ck_assert_uint_eq(drained.budget.used_bytes, used + log->n_slots * SLOT_BYTES);
}
END_TEST

START_TEST(leaves_out_records_of_other_captures)
{
	PTAP_INSTANT("old");
	fixture_publish(0);
	drained_start();
	ck_assert_uint_eq(drained_visit(), 0);
	ck_assert_uint_eq(drained.drain.n_logs, 0);
	PTAP_INSTANT("new");
	drained_visit();
	ck_assert_uint_eq(drained.drain.n_logs, 1);
	ck_assert_uint_eq(drained.drain.logs[0]->n_slots, 1);
	ck_assert_str_eq(fixture_name_of(&drained.drain.logs[0]->slots[0]), "new");
}
END_TEST

START_TEST(counts_records_that_the_capture_has_no_memory_for)
{
	uint32_t next = 0;

	add_samples(&next, 50);
	drained_visit();
	drained.budget.max_bytes = drained.budget.used_bytes;
	add_samples(&next, 1);
	drained_visit();
	add_samples(&next, 10);
	drained_visit();
	ck_assert_uint_eq(drained.drain.logs[0]->n_slots, 100);
	ck_assert_uint_eq(drained.drain.logs[0]->lost_memory, 11);
	ck_assert_uint_eq(drained.budget.used_bytes, drained.budget.max_bytes);
	/* The program continues, so its ring must not stay full. */
	ck_assert_uint_eq(atomic_load(&drained.ring->tail), atomic_load(&drained.ring->head));
}
END_TEST

START_TEST(takes_over_losses_and_name)
{
	ptap_thread_name("worker");
	PTAP_INSTANT("point");
	drained_visit();
	atomic_store(&drained.ring->lost[LOSS_FULL], 5);
	atomic_store(&drained.ring->lost[LOSS_DEPTH], 6);
	atomic_store(&fixture.arena->lost_no_ring, 9);
	memset(drained.ring->names, 'n', sizeof drained.ring->names);
	drained_finish();
	ck_assert_uint_eq(drained.drain.logs[0]->lost[LOSS_FULL], 5);
	ck_assert_uint_eq(drained.drain.logs[0]->lost[LOSS_DEPTH], 6);
	ck_assert_uint_eq(strlen(drained.drain.logs[0]->name), RING_NAME_BYTES - 1);
	ck_assert_uint_eq(drained.drain.lost_no_ring, 9);
}
END_TEST

static void look_at(uint64_t ticks)
{
	drained.budget.era_clock.read_ticks = ticks;
	drained_visit();
}

static void expect_gap(size_t i, uint64_t from, uint64_t until)
{
	ck_assert_uint_gt(drained.drain.gaps.n, i);
	ck_assert_uint_eq(drained.drain.gaps.v[i].from, from);
	ck_assert_uint_eq(drained.drain.gaps.v[i].until, until);
}

START_TEST(knows_between_which_looks_records_were_lost)
{
	PTAP_INSTANT("point");
	for (uint64_t ticks = 100; ticks <= 400; ticks += 100)
		look_at(ticks);
	ck_assert_uint_eq(drained.drain.gaps.n, 0);
	atomic_store(&drained.ring->lost[LOSS_FULL], 5);
	look_at(500);
	expect_gap(0, 300, UINT64_MAX);
	look_at(600);
	expect_gap(0, 300, 600);
	look_at(1000);
	look_at(1100);
	atomic_store(&fixture.arena->lost_no_ring, 1);
	look_at(1200);
	look_at(1300);
	ck_assert_uint_eq(drained.drain.gaps.n, 2);
	expect_gap(0, 300, 600);
	expect_gap(1, 1000, 1300);
}
END_TEST

START_TEST(very_many_gaps_become_fewer)
{
	struct gaps gaps = {.n = 0};

	for (uint64_t i = 0; i < 64; i++)
		gaps_add(&gaps, 100 * i * i, 100 * i * i + 10);
	ck_assert_uint_eq(gaps.n, GAPS_MAX);
	for (uint64_t i = 0; i < 64; i++)
		ck_assert(gaps_has(&gaps, 100 * i * i + 5, 100 * i * i + 5));
	ck_assert(!gaps_has(&gaps, 100 * 63 * 63 + 11, UINT64_MAX));
	ck_assert(!gaps_has(&gaps, 100 * 62 * 62 + 11, 100 * 63 * 63 - 1));
}
END_TEST

START_TEST(counts_only_this_captures_threads_without_ring)
{
	atomic_store(&fixture.arena->lost_no_ring, 100);
	drained_start();
	atomic_store(&fixture.arena->lost_no_ring, 103);
	drained_finish();
	ck_assert_uint_eq(drained.drain.lost_no_ring, 3);
}
END_TEST

/*
 * A thread that writes once more and ends, after its ring was read and before the
 * server asks whether it exists.
 */
static struct {
	pthread_t thread;
	sem_t may_end;
	sem_t has_written;
	bool is_awaited;
} late;

bool __real_target_has_thread(struct target *t, pid_t tid);
bool __wrap_target_has_thread(struct target *t, pid_t tid);
bool __wrap_target_has_thread(struct target *t, pid_t tid)
{
	if (late.is_awaited) {
		late.is_awaited = false;
		sem_post(&late.may_end);
		pthread_join(late.thread, NULL);
		while (__real_target_has_thread(t, tid))
			sched_yield();
	}
	return __real_target_has_thread(t, tid);
}

static void *annotate_late(void *unused)
{
	PTAP_INSTANT("early");
	sem_post(&late.has_written);
	sem_wait(&late.may_end);
	PTAP_INSTANT("late");
	return unused;
}

START_TEST(takes_the_last_records_of_an_ended_thread)
{
	uint64_t before = fixture_now();
	const struct thread_log *log;

	sem_init(&late.may_end, 0, 0);
	sem_init(&late.has_written, 0, 0);
	ck_assert_int_eq(pthread_create(&late.thread, NULL, annotate_late, NULL), 0);
	sem_wait(&late.has_written);
	drained_visit();
	log = drained.drain.logs[0];
	ck_assert_uint_eq(log->n_slots, 1);
	late.is_awaited = true;
	drained.drain.next_reclaim_ns = 0;
	drained_visit();
	ck_assert(!late.is_awaited);
	ck_assert(log->is_closed);
	ck_assert_uint_eq(log->n_slots, 2);
	ck_assert_str_eq(fixture_name_of(&log->slots[1]), "late");
	ck_assert_uint_gt(log->gone_ticks, before);
	ck_assert_uint_le(log->gone_ticks, fixture_now());
	ck_assert_uint_eq(atomic_load(&fixture.arena->ring_state[0]), RING_FREE);
}
END_TEST

static void *annotate(void *tid)
{
	PTAP_INSTANT("point");
	*(pid_t *)tid = gettid();
	return NULL;
}

static void run_thread(void)
{
	pthread_t thread;
	pid_t tid = 0;

	ck_assert_int_eq(pthread_create(&thread, NULL, annotate, &tid), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	/* pthread_join() returns a moment before the kernel has forgotten the thread. */
	while (target_has_thread(&fixture.target, tid))
		sched_yield();
}

START_TEST(frees_rings_of_dead_threads_before_a_capture)
{
	PTAP_INSTANT("point");
	for (uint32_t i = 1; i < FIXTURE_RINGS; i++)
		run_thread();
	drained_visit();
	drain_deinit(&drained.drain);
	drained_init();
	drained_start();
	ck_assert_uint_eq(atomic_load(&fixture.arena->ring_state[0]), RING_USED);
	for (uint32_t i = 1; i < FIXTURE_RINGS; i++)
		ck_assert_uint_eq(atomic_load(&fixture.arena->ring_state[i]), RING_FREE);
	ck_assert_uint_eq(atomic_load(&drained.ring->tail), atomic_load(&drained.ring->head));
	run_thread();
	drained_visit();
	ck_assert_uint_eq(drained.drain.n_logs, 1);
	ck_assert_uint_eq(drained.drain.logs[0]->ring, 1);
	ck_assert_uint_eq(drained.drain.logs[0]->n_slots, 1);
	ck_assert_uint_eq(atomic_load(&fixture.arena->lost_no_ring), 0);
}
END_TEST

/*
 * A thread may sleep long between claiming a ring and storing its tid. Until then the ring has
 * its predecessor's records.
 */
START_TEST(leaves_a_ring_that_was_just_claimed)
{
	PTAP_INSTANT("point");
	run_thread();
	drained_visit();
	drained.drain.next_reclaim_ns = 0;
	drained_visit();
	ck_assert_uint_eq(atomic_load(&fixture.arena->ring_state[1]), RING_FREE);
	atomic_store(&fixture.arena->ring_state[1], RING_USED);
	drained.drain.next_reclaim_ns = 0;
	drained_visit();
	drain_reset_rings(&drained.drain);
	ck_assert_uint_eq(atomic_load(&fixture.arena->ring_state[1]), RING_USED);
}
END_TEST

/* One capture has more threads than there are rings, one after the other. */
START_TEST(gives_rings_of_dead_threads_to_new_ones)
{
	enum {
		N_THREADS = 200,
		N_RINGS = 80
	};

	drained_teardown();
	fixture_open_rings(N_RINGS);
	drained_init();
	drained_start();
	for (int i = 0; i < N_THREADS; i++) {
		run_thread();
		drained_visit();
		drained.drain.next_reclaim_ns = 0;
		drained_visit();
	}
	drained_finish();
	ck_assert_uint_eq(drained.drain.n_logs, N_THREADS);
	ck_assert_uint_eq(drained.drain.lost_no_ring, 0);
	for (size_t i = 0; i < N_THREADS; i++)
		ck_assert_uint_eq(drained.drain.logs[i]->n_slots, 1);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(copies_everything_across_the_wrap),
	UNIT_TEST(leaves_out_records_of_other_captures),
	UNIT_TEST(counts_records_that_the_capture_has_no_memory_for),
	UNIT_TEST(takes_over_losses_and_name),
	UNIT_TEST(knows_between_which_looks_records_were_lost),
	UNIT_TEST(very_many_gaps_become_fewer),
	UNIT_TEST(counts_only_this_captures_threads_without_ring),
	UNIT_TEST(takes_the_last_records_of_an_ended_thread),
	UNIT_TEST(frees_rings_of_dead_threads_before_a_capture),
	UNIT_TEST(leaves_a_ring_that_was_just_claimed),
	UNIT_TEST(gives_rings_of_dead_threads_to_new_ones),
	{NULL},
};

UNIT_MAIN("drain", .set_up = drained_setup, .tear_down = drained_teardown, .tests = tests)
