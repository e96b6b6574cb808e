/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the rings of ended threads that overwrite their oldest entries: they are kept within a
 * bound, and each lost entry is counted. Linked with -Wl,--wrap=ring_picture_take.
 */
#include "daemon/pipeline/drain/ended_threads.h"

#include <check.h>
#include <errno.h>
#include <proftap/proftap.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/pipeline/drain/drain.h"
#include "daemon/pipeline/drain/ring_notes.h"
#include "daemon/pipeline/drain/ring_picture.h"
#include "daemon/pipeline/drain/rings.h"
#include "daemon/pipeline/drain/thread_log.h"
#include "daemon/pipeline/drain/thread_window.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/unit.h"

static struct ended_pool pool;
static struct ended_threads ended;
static struct drain_budget budget = {.max_bytes = UINT64_MAX};
static struct drain copies;

static void setup(void)
{
	fixture_open();
	fixture_overwrite(true);
	atomic_store(&fixture.arena->word, fixture_start(1));
	ck_assert_int_eq(ring_notes_open(&fixture.target, 1, 0), 0);
	ended_pool_init(&pool);
	ended_pool_limit(&pool, UINT64_MAX);
	ended_threads_init(&ended, &pool, &fixture.target);
	drain_init(&copies, &fixture.target, &budget);
}

static void teardown(void)
{
	drain_deinit(&copies);
	ended_threads_deinit(&ended);
	ended_pool_deinit(&pool);
	ring_notes_close(&fixture.target);
	fixture_close();
}

static void *emit(void *n)
{
	for (uintptr_t i = 0; i < (uintptr_t)n; i++)
		PTAP_INSTANT("point");
	return NULL;
}

/* Runs a thread to its end. Its ring, the first one, is free afterwards. */
static void live(uintptr_t n)
{
	pthread_t thread;

	pthread_create(&thread, NULL, emit, (void *)n);
	pthread_join(thread, NULL);
	rings_free(&fixture.target, 0);
}

static void copy(uint64_t from_ticks)
{
	drain_deinit(&copies);
	drain_init(&copies, &fixture.target, &budget);
	ck_assert_int_eq(ended_threads_copy(&ended, &copies, from_ticks), 0);
}

START_TEST(all_of_a_short_life_is_kept)
{
	live(10);
	live(20);
	copy(0);
	ck_assert_uint_eq(copies.n_logs, 2);
	ck_assert_uint_eq(thread_window_count(copies.logs[0]), 10);
	ck_assert_uint_eq(thread_window_count(copies.logs[1]), 20);
	ck_assert_int_ne(copies.logs[0]->tid, 0);
	ck_assert_uint_eq(copies.n_overwritten, 0);
	ck_assert_uint_eq(copies.logs[0]->complete_ticks, 0);
	ck_assert_uint_eq(copies.gone_ticks, 0);
}
END_TEST

static void *leave_open(void *unused)
{
	PTAP_BEGIN("left open");
	return unused;
}

/*
 * Like live(), with a span that never ends. Returns the last time at which the ring of the thread
 * can have been freed.
 */
static uint64_t live_unended(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, leave_open, NULL);
	pthread_join(thread, NULL);
	rings_free(&fixture.target, 0);
	return fixture_now();
}

START_TEST(open_spans_end_when_the_thread_is_seen_to_be_gone)
{
	uint64_t before = fixture_now();
	uint64_t after = live_unended();

	copy(0);
	ck_assert_uint_eq(copies.logs[0]->n_open, 1);
	ck_assert_uint_gt(copies.logs[0]->gone_ticks, before);
	ck_assert_uint_le(copies.logs[0]->gone_ticks, after);
	copy(before);
	ck_assert_uint_eq(copies.logs[0]->n_open, 1);
	copy(after + 1);
	ck_assert_uint_eq(copies.logs[0]->n_open, 0);
}
END_TEST

START_TEST(a_thread_ends_with_its_process_at_the_latest)
{
	uint64_t end = fixture_now();

	atomic_store(&fixture.target.ended_ticks, end);
	live_unended();
	copy(0);
	ck_assert_uint_eq(copies.logs[0]->gone_ticks, end);
}
END_TEST

START_TEST(an_ended_thread_counts_its_overwritten_records)
{
	live(3 * FIXTURE_SLOTS + 5);
	copy(0);
	ck_assert_uint_gt(copies.logs[0]->n_overwritten, 0);
	ck_assert_uint_eq(copies.logs[0]->n_overwritten + thread_window_count(copies.logs[0]),
		3 * FIXTURE_SLOTS + 5);
	ck_assert_uint_eq(copies.logs[0]->complete_ticks, copies.logs[0]->window_ticks);
}
END_TEST

START_TEST(beyond_the_bound_the_first_goes_and_is_counted)
{
	uint64_t before;

	live(10);
	live(20);
	ended_pool_limit(&pool, pool.used_bytes + 1);
	before = fixture_now();
	live(30);
	ck_assert_uint_le(pool.used_bytes, pool.max_bytes);
	copy(0);
	ck_assert_uint_lt(copies.n_logs, 3);
	ck_assert_uint_eq(thread_window_count(copies.logs[copies.n_logs - 1]), 30);
	ck_assert_uint_eq(copies.n_overwritten, copies.n_logs == 2 ? 10 : 30);
	ck_assert_uint_gt(copies.gone_ticks, 0);
	ck_assert_uint_lt(copies.gone_ticks, before);
	before = fixture_now();
	live(40);
	ended_pool_limit(&pool, 0);
	copy(0);
	ck_assert_uint_eq(copies.n_overwritten, 60);
	ck_assert_uint_lt(copies.gone_ticks, before);
	ck_assert_uint_gt(copies.logs[0]->gone_ticks, before);
}
END_TEST

START_TEST(the_last_ended_thread_stays_whatever_its_size)
{
	ended_pool_limit(&pool, 0);
	live(10);
	live(FIXTURE_SLOTS / 2);
	copy(0);
	ck_assert_uint_eq(copies.n_logs, 1);
	ck_assert_uint_eq(thread_window_count(copies.logs[0]), FIXTURE_SLOTS / 2);
	ck_assert_uint_eq(copies.n_overwritten, 10);
}
END_TEST

START_TEST(thread_outside_the_request_is_left_out_and_is_no_loss)
{
	uint64_t between;

	live(10);
	between = fixture_now();
	live(20);
	copy(between);
	ck_assert_uint_eq(copies.n_logs, 2);
	ck_assert_uint_eq(copies.logs[0]->n_slots, 0);
	ck_assert_int_eq(copies.logs[0]->is_limited, 1);
	ck_assert_uint_eq(copies.logs[0]->window_ticks, 0);
	ck_assert_uint_eq(copies.logs[0]->complete_ticks, between);
	ck_assert_uint_eq(thread_window_count(copies.logs[1]), 20);
	ck_assert_int_eq(copies.logs[1]->is_limited, 0);
	ck_assert_uint_ge(copies.logs[1]->window_ticks, between);
	ck_assert_uint_eq(copies.n_overwritten, 0);
}
END_TEST

START_TEST(a_thread_of_an_earlier_recording_is_left_out)
{
	pthread_t thread;

	pthread_create(&thread, NULL, emit, (void *)(uintptr_t)10);
	pthread_join(thread, NULL);
	atomic_store(&fixture.arena->word, fixture_start(1));
	rings_free(&fixture.target, 0);
	copy(0);
	ck_assert_uint_eq(copies.n_logs, 0);
}
END_TEST

START_TEST(released_process_is_counted_no_more)
{
	live(10);
	live(20);
	ended_threads_deinit(&ended);
	ck_assert_ptr_null(fixture.target.ended);
	ended_threads_init(&ended, &pool, &fixture.target);
	ended_pool_limit(&pool, 0);
	copy(0);
	ck_assert_uint_eq(copies.n_logs, 0);
	ck_assert_uint_eq(copies.n_overwritten, 0);
}
END_TEST

START_TEST(slots_beyond_the_budget_of_a_snapshot_are_counted)
{
	live(1000);
	budget.max_bytes = 0;
	copy(0);
	ck_assert_uint_eq(copies.n_logs, 0);
	ck_assert_uint_eq(copies.lost_memory, 1000);
	budget.max_bytes = budget.used_bytes + 1000 * sizeof(struct slot);
	copy(0);
	ck_assert_uint_eq(copies.n_logs, 1);
	/* The log itself takes some of the memory. */
	ck_assert_uint_gt(thread_window_count(copies.logs[0]), 900);
	ck_assert_uint_lt(thread_window_count(copies.logs[0]), 1000);
	ck_assert_uint_eq(copies.logs[0]->lost_memory + thread_window_count(copies.logs[0]), 1000);
}
END_TEST

/*
 * The copy of a ring gets the newest slots that fit into the memory left. Without memory there is
 * no copy, until more is allowed.
 */
START_TEST(a_ring_is_copied_out_as_far_as_there_is_memory)
{
	ended_pool_allow(&pool, 8192);
	live(1000);
	live(1000);
	ended_pool_allow(&pool, UINT64_MAX);
	live(1000);
	copy(0);
	ck_assert_uint_eq(copies.n_logs, 2);
	ck_assert_uint_gt(thread_window_count(copies.logs[0]), 300);
	ck_assert_uint_lt(thread_window_count(copies.logs[0]), 8192 / sizeof(struct slot));
	ck_assert_uint_eq(copies.logs[0]->lost_memory + thread_window_count(copies.logs[0]), 1000);
	ck_assert_uint_eq(copies.lost_memory, 1000);
	ck_assert_uint_eq(thread_window_count(copies.logs[1]), 1000);
}
END_TEST

static int fails;

int __real_ring_picture_take(struct target *t, uint32_t i, uint32_t word, struct drain_budget *b,
	struct thread_log *log);
int __wrap_ring_picture_take(struct target *t, uint32_t i, uint32_t word, struct drain_budget *b,
	struct thread_log *log);
int __wrap_ring_picture_take(
	struct target *t, uint32_t i, uint32_t word, struct drain_budget *b, struct thread_log *log)
{
	return fails ? fails : __real_ring_picture_take(t, i, word, b, log);
}

/* All slots that the thread wrote are counted. */
START_TEST(slots_without_memory_are_counted)
{
	fails = -ENOMEM;
	live(10);
	copy(0);
	ck_assert_uint_eq(copies.n_logs, 0);
	ck_assert_uint_eq(copies.lost_memory, 10);
	live(3 * FIXTURE_SLOTS);
	copy(0);
	ck_assert_uint_eq(copies.lost_memory, 10 + 3 * FIXTURE_SLOTS);
	ck_assert_uint_eq(copies.n_broken, 0);
	fails = 0;
	live(20);
	copy(0);
	ck_assert_uint_eq(copies.n_logs, 1);
	ck_assert_uint_eq(copies.lost_memory, 10 + 3 * FIXTURE_SLOTS);
}
END_TEST

/* Rings of an earlier recording are no loss. */
START_TEST(an_outcome_that_is_no_failure_is_not_counted)
{
	fails = RING_PICTURE_NONE;
	live(10);
	fails = RING_PICTURE_BROKEN;
	live(10);
	copy(0);
	ck_assert_uint_eq(copies.lost_memory, 0);
	ck_assert_uint_eq(copies.n_broken, 1);
}
END_TEST

START_TEST(a_ring_that_makes_no_sense_is_counted)
{
	pthread_t thread;

	pthread_create(&thread, NULL, emit, (void *)(uintptr_t)10);
	pthread_join(thread, NULL);
	atomic_store(&fixture_ring(0)->head, UINT64_MAX / 2);
	rings_free(&fixture.target, 0);
	copy(0);
	ck_assert_uint_eq(copies.n_broken, 1);
}
END_TEST

START_TEST(dropping_one_process_counts_it_and_keeps_the_other)
{
	struct ended_threads other;
	struct ended_sums sums = {.n_overwritten = 1};

	live(10);
	ended_threads_init(&other, &pool, &fixture.target);
	live(20);
	fixture.target.ended = &ended;
	live(30);
	ended_threads_drop(&ended);
	copy(0);
	ck_assert_uint_eq(copies.n_logs, 0);
	ck_assert_uint_eq(copies.n_overwritten, 40);
	ck_assert_uint_eq(other.n, 1);
	live(50);
	copy(0);
	ck_assert_uint_eq(copies.n_logs, 1);
	ended_sums_add(&sums, &ended.sums);
	ended_sums_tell(&sums, &copies);
	ck_assert_uint_eq(copies.n_overwritten, 40 + 41);
	ended_threads_deinit(&other);
}
END_TEST

START_TEST(rings_that_become_free_are_few_only_when_few_were_free_before)
{
	pthread_t thread;

	for (uint32_t i = 1; i < FIXTURE_RINGS; i++) {
		pthread_create(&thread, NULL, emit, (void *)(uintptr_t)1);
		pthread_join(thread, NULL);
	}
	ck_assert_int_eq(rings_free_gone(&fixture.target), 0);
	for (uint32_t i = 0; i < FIXTURE_RINGS; i++) {
		pthread_create(&thread, NULL, emit, (void *)(uintptr_t)1);
		pthread_join(thread, NULL);
	}
	ck_assert_int_eq(rings_free_gone(&fixture.target), 1);
	for (uint32_t i = 0; i < FIXTURE_RINGS; i++)
		ck_assert_int_eq(rings_is_used(&fixture.target, i), 0);
}
END_TEST

START_TEST(rings_of_live_threads_are_not_freed)
{
	for (uint32_t i = 0; i < FIXTURE_RINGS; i++) {
		atomic_store(&fixture_ring(i)->tid, gettid());
		atomic_store(&fixture.arena->ring_state[i], RING_USED);
	}
	ck_assert_int_eq(rings_free_gone(&fixture.target), 0);
	ck_assert_int_eq(rings_is_used(&fixture.target, 0), 1);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(all_of_a_short_life_is_kept),
	UNIT_TEST(open_spans_end_when_the_thread_is_seen_to_be_gone),
	UNIT_TEST(a_thread_ends_with_its_process_at_the_latest),
	UNIT_TEST(an_ended_thread_counts_its_overwritten_records),
	UNIT_TEST(beyond_the_bound_the_first_goes_and_is_counted),
	UNIT_TEST(the_last_ended_thread_stays_whatever_its_size),
	UNIT_TEST(thread_outside_the_request_is_left_out_and_is_no_loss),
	UNIT_TEST(a_thread_of_an_earlier_recording_is_left_out),
	UNIT_TEST(released_process_is_counted_no_more),
	UNIT_TEST(rings_that_become_free_are_few_only_when_few_were_free_before),
	UNIT_TEST(rings_of_live_threads_are_not_freed),
	UNIT_TEST(slots_beyond_the_budget_of_a_snapshot_are_counted),
	UNIT_TEST(a_ring_is_copied_out_as_far_as_there_is_memory),
	UNIT_TEST(slots_without_memory_are_counted),
	UNIT_TEST(an_outcome_that_is_no_failure_is_not_counted),
	UNIT_TEST(a_ring_that_makes_no_sense_is_counted),
	UNIT_TEST(dropping_one_process_counts_it_and_keeps_the_other),
	{NULL},
};

UNIT_MAIN("ended_threads", .set_up = setup, .tear_down = teardown, .tests = tests)
