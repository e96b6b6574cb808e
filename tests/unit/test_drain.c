/* SPDX-License-Identifier: Apache-2.0 */
/* Emptying the rings, of programs that behave and of programs that write at random. */
#include "daemon/drain.h"

#include <check.h>
#include <malloc.h>
#include <proftap/proftap.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/guest_fixture.h"

static struct drain_budget budget;
static struct drain drain;
static struct ring *ring;

static void start(void)
{
	drain_reset_rings(&drain);
	drain_begin(&drain, fixture_start(1));
}

static void init(void)
{
	budget = (struct drain_budget){.max_bytes = 64u << 20};
	drain_init(&drain, &fixture.target, &budget);
}

static void setup(void)
{
	fixture_open();
	ring = fixture_ring(0);
	init();
	start();
}

static void teardown(void)
{
	drain_deinit(&drain);
	fixture_close();
}

static unsigned visit(void)
{
	int error = 0;
	unsigned full = drain_visit(&drain, &error);

	ck_assert_int_eq(error, 0);
	return full;
}

static void finish(void)
{
	int error = 0;

	drain_finish(&drain, &error);
	ck_assert_int_eq(error, 0);
}

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
	visit();
	used = budget.used_bytes - SLOT_BYTES; /* the log itself */
	while (next < 3 * FIXTURE_SLOTS) {
		add_samples(&next, 1000);
		ck_assert_uint_eq(visit(), 2000 * 1000u / FIXTURE_SLOTS);
		ck_assert_uint_eq(atomic_load(&ring->tail), atomic_load(&ring->head));
		next += next == 1000; /* a number that is missing, so that the check can see it */
	}
	ck_assert_uint_eq(visit(), 0);
	ck_assert_uint_eq(drain.n_logs, 1);
	log = drain.logs[0];
	ck_assert_uint_eq(log->n_slots, 1 + 2 * (next - 1));
	for (size_t i = 1, n = 0; i < log->n_slots; i += 2, n++) {
		n += n == 1000;
		ck_assert_uint_eq(record_kind(log->slots[i].word[0]), RECORD_COUNTER);
		ck_assert_uint_eq(log->slots[i + 1].word[1], n);
	}
	ck_assert_int_eq(log->tid, getpid());
	ck_assert_uint_eq(log->lost[LOSS_FULL], 0);
	ck_assert_uint_eq(budget.used_bytes, used + log->n_slots * SLOT_BYTES);
}
END_TEST

START_TEST(leaves_out_records_of_other_captures)
{
	PTAP_INSTANT("old");
	fixture_publish(0);
	start();
	ck_assert_uint_eq(visit(), 0);
	ck_assert_uint_eq(drain.n_logs, 0);
	PTAP_INSTANT("new");
	visit();
	ck_assert_uint_eq(drain.n_logs, 1);
	ck_assert_uint_eq(drain.logs[0]->n_slots, 1);
	ck_assert_str_eq(fixture_name_of(&drain.logs[0]->slots[0]), "new");
}
END_TEST

START_TEST(counts_what_the_capture_has_no_memory_for)
{
	uint32_t next = 0;

	add_samples(&next, 50);
	visit();
	budget.max_bytes = budget.used_bytes;
	add_samples(&next, 1);
	visit();
	add_samples(&next, 10);
	visit();
	ck_assert_uint_eq(drain.logs[0]->n_slots, 100);
	ck_assert_uint_eq(drain.logs[0]->lost_memory, 22);
	ck_assert_uint_eq(budget.used_bytes, budget.max_bytes);
	/* The program goes on: its ring must not stay full. */
	ck_assert_uint_eq(atomic_load(&ring->tail), atomic_load(&ring->head));
}
END_TEST

START_TEST(takes_over_losses_and_name)
{
	ptap_thread_name("worker");
	PTAP_INSTANT("point");
	visit();
	atomic_store(&ring->lost[LOSS_FULL], 5);
	atomic_store(&ring->lost[LOSS_DEPTH], 6);
	atomic_store(&fixture.arena->lost_no_ring, 9);
	memset(ring->name, 'n', sizeof ring->name);
	finish();
	ck_assert_uint_eq(drain.logs[0]->lost[LOSS_FULL], 5);
	ck_assert_uint_eq(drain.logs[0]->lost[LOSS_DEPTH], 6);
	ck_assert_uint_eq(strlen(drain.logs[0]->name), RING_NAME_BYTES - 1);
	ck_assert_uint_eq(drain.lost_no_ring, 9);
}
END_TEST

START_TEST(counts_only_this_captures_threads_without_ring)
{
	atomic_store(&fixture.arena->lost_no_ring, 100);
	start();
	atomic_store(&fixture.arena->lost_no_ring, 103);
	finish();
	ck_assert_uint_eq(drain.lost_no_ring, 3);
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
	/* It is joined a moment before the kernel has forgotten it. */
	while (target_has_thread(&fixture.target, tid))
		sched_yield();
}

START_TEST(frees_rings_of_dead_threads_before_a_capture)
{
	PTAP_INSTANT("point");
	for (uint32_t i = 1; i < FIXTURE_RINGS; i++)
		run_thread();
	visit();
	drain_deinit(&drain);
	init();
	start();
	ck_assert_uint_eq(atomic_load(&fixture.arena->ring_state[0]), RING_USED);
	for (uint32_t i = 1; i < FIXTURE_RINGS; i++)
		ck_assert_uint_eq(atomic_load(&fixture.arena->ring_state[i]), RING_FREE);
	ck_assert_uint_eq(atomic_load(&ring->tail), atomic_load(&ring->head));
	run_thread();
	visit();
	ck_assert_uint_eq(drain.n_logs, 1);
	ck_assert_uint_eq(drain.logs[0]->ring, 1);
	ck_assert_uint_eq(drain.logs[0]->n_slots, 1);
	ck_assert_uint_eq(atomic_load(&fixture.arena->lost_no_ring), 0);
}
END_TEST

/* Between its claim and its tid a thread may sleep for long: what lies in the ring is its predecessor's. */
START_TEST(leaves_a_ring_that_was_just_claimed)
{
	PTAP_INSTANT("point");
	run_thread();
	visit();
	drain.next_reclaim_ns = 0;
	visit();
	ck_assert_uint_eq(atomic_load(&fixture.arena->ring_state[1]), RING_FREE);
	atomic_store(&fixture.arena->ring_state[1], RING_USED);
	drain.next_reclaim_ns = 0;
	visit();
	drain_reset_rings(&drain);
	ck_assert_uint_eq(atomic_load(&fixture.arena->ring_state[1]), RING_USED);
}
END_TEST

/* More threads in one capture than there are rings, one after the other. */
START_TEST(gives_rings_of_dead_threads_to_new_ones)
{
	enum {
		N_THREADS = 200,
		N_RINGS = 80
	};

	teardown();
	fixture_open_rings(N_RINGS);
	init();
	start();
	for (int i = 0; i < N_THREADS; i++) {
		run_thread();
		visit();
		drain.next_reclaim_ns = 0;
		visit();
	}
	finish();
	ck_assert_uint_eq(drain.n_logs, N_THREADS);
	ck_assert_uint_eq(drain.lost_no_ring, 0);
	for (size_t i = 0; i < N_THREADS; i++)
		ck_assert_uint_eq(drain.logs[i]->n_slots, 1);
}
END_TEST

START_TEST(reads_spans_that_are_open)
{
	PTAP_BEGIN("outer");
	PTAP_BEGIN_DYN("dynamic");
	fixture_publish(0);
	finish();
	ck_assert_uint_eq(drain.logs[0]->n_open, 2);
	ck_assert_uint_eq(drain.logs[0]->open[0].kind, RECORD_SPAN);
	ck_assert_uint_eq(drain.logs[0]->open[0].n_slots, 0);
	ck_assert_str_eq(fixture_string(drain.logs[0]->open[0].string_id), "outer");
	ck_assert_uint_eq(drain.logs[0]->open[1].string_id, STRING_ID_DYNAMIC);
	ck_assert_uint_eq(drain.logs[0]->open[1].n_slots, 1);
	ck_assert_uint_eq(slot_type(drain.logs[0]->open[1].slots[0].word[0]), SLOT_NAME);
	ck_assert_mem_eq(&drain.logs[0]->open[1].slots[0].word[1], "dynamic", 8);
}
END_TEST

/* A thread that was killed after it had stored the record and before it had stored the depth. */
START_TEST(drops_an_open_span_that_is_the_last_record)
{
	PTAP_BEGIN("outer");
	PTAP_BEGIN("inner");
	PTAP_END();
	atomic_store(&ring->depth, 2);
	finish();
	ck_assert_uint_eq(drain.logs[0]->n_slots, 1);
	ck_assert_uint_eq(drain.logs[0]->n_open, 1);
	ck_assert_str_eq(fixture_string(drain.logs[0]->open[0].string_id), "outer");
}
END_TEST

START_TEST(drops_open_spans_that_are_torn)
{
	PTAP_INSTANT("point");
	for (int i = 0; i < 5; i++)
		PTAP_BEGIN_DYN("open");
	atomic_fetch_add(&ring->open[0].start, 1);
	atomic_store(&ring->open[1].start, 0);
	atomic_store(&ring->open[1].what, 0);
	atomic_store(&ring_frame(ring, 2)->n_slots, RECORD_MAX_EXTRA + 1);
	atomic_store(&ring_frame(ring, 3)->n_slots, UINT32_MAX);
	finish();
	ck_assert_uint_eq(drain.logs[0]->n_open, 1);
	ck_assert_mem_eq(&drain.logs[0]->open[0].slots[0].word[1], "open", 5);
}
END_TEST

START_TEST(ignores_an_impossible_depth)
{
	PTAP_BEGIN("open");
	atomic_store(&ring->depth, RECORD_MAX_DEPTH + 1);
	finish();
	ck_assert_uint_eq(drain.logs[0]->n_open, 0);
}
END_TEST

START_TEST(starts_again_behind_a_head_that_jumped)
{
	PTAP_INSTANT("point");
	visit();
	atomic_fetch_add(&ring->head, UINT64_C(1) << 40);
	ck_assert_uint_eq(visit(), 0);
	atomic_store(&ring->head, 0); /* backwards */
	ck_assert_uint_eq(visit(), 0);
	ck_assert_uint_eq(drain.n_broken, 2);
	ck_assert_uint_eq(drain.logs[0]->n_slots, 1);
	atomic_store(&ring->tail, 12345); /* the server's own copy counts */
	atomic_store(&ring->head, 2);
	visit();
	ck_assert_uint_eq(drain.n_broken, 2);
	ck_assert_uint_eq(drain.logs[0]->n_slots, 3);
	ck_assert_uint_eq(atomic_load(&ring->tail), 2);
}
END_TEST

/* A thread that is gone leaves |n_records| and |depth| open spans in a ring. */
static void fake_thread(uint32_t i, uint64_t n_records, uint32_t depth)
{
	struct ring *r = fixture_ring(i);

	for (uint32_t k = 0; k < depth; k++)
		atomic_store(&r->open[k].start, k + 1);
	atomic_store(&r->tid, INT32_MAX);
	atomic_store(&r->depth, depth);
	atomic_store(&r->word, drain.word);
	atomic_fetch_add(&r->head, n_records);
	atomic_store(&fixture.arena->ring_state[i], RING_USED);
}

static size_t count_held_bytes(void)
{
	size_t bytes = 0;

	for (size_t i = 0; i < drain.n_logs; i++)
		bytes += malloc_usable_size(drain.logs[i]) +
			 malloc_usable_size(drain.logs[i]->slots) +
			 malloc_usable_size(drain.logs[i]->open);
	return bytes;
}

/* Threads cost memory even if they record next to nothing: a program may start them without an end. */
START_TEST(bounds_the_memory_of_threads_that_come_and_go)
{
	budget.max_bytes = 1u << 20;
	for (int round = 0; round < 2000; round++) {
		for (uint32_t i = 0; i < FIXTURE_RINGS; i++)
			fake_thread(i, 1, _i ? RECORD_MAX_DEPTH : 0);
		visit();
		drain.next_reclaim_ns = 0;
		visit();
	}
	/* Rings come free all the same. */
	for (uint32_t i = 0; i < FIXTURE_RINGS; i++)
		ck_assert_uint_eq(atomic_load(&fixture.arena->ring_state[i]), RING_FREE);
	finish();
	ck_assert_uint_gt(drain.n_logs, 1);
	ck_assert_uint_gt(drain.lost_memory, 0);
	ck_assert_uint_lt(count_held_bytes(), 2 * budget.max_bytes);
}
END_TEST

/* Nothing but noise in the rings: it ends, and stays within its memory. */
START_TEST(survives_noise)
{
	uint32_t *noise = (uint32_t *)ring;

	srand((unsigned)_i);
	PTAP_BEGIN("point");
	for (int round = 0; round < 20; round++) {
		uint64_t head = atomic_load(&ring->head);

		for (size_t i = 0; i < ring_stride_bytes(FIXTURE_RING_BYTES) / 4; i++)
			noise[i] = (uint32_t)rand() * 3u;
		atomic_store(&ring->word, drain.word);
		if (round % 2)
			atomic_store(&ring->head, head + (unsigned)rand() % FIXTURE_SLOTS);
		atomic_store(&ring->depth, (unsigned)rand() % (2 * RECORD_MAX_DEPTH));
		visit();
	}
	finish();
	ck_assert_uint_le(drain.logs[0]->n_open, RECORD_MAX_DEPTH);
	ck_assert_uint_le(budget.used_bytes, budget.max_bytes);
	ck_assert_uint_gt(drain.n_broken, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("drain");
	TCase *tcase = tcase_create("drain");
	SRunner *runner;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, copies_everything_across_the_wrap);
	tcase_add_test(tcase, leaves_out_records_of_other_captures);
	tcase_add_test(tcase, counts_what_the_capture_has_no_memory_for);
	tcase_add_test(tcase, takes_over_losses_and_name);
	tcase_add_test(tcase, counts_only_this_captures_threads_without_ring);
	tcase_add_test(tcase, frees_rings_of_dead_threads_before_a_capture);
	tcase_add_test(tcase, leaves_a_ring_that_was_just_claimed);
	tcase_add_test(tcase, gives_rings_of_dead_threads_to_new_ones);
	tcase_add_test(tcase, reads_spans_that_are_open);
	tcase_add_test(tcase, drops_an_open_span_that_is_the_last_record);
	tcase_add_test(tcase, drops_open_spans_that_are_torn);
	tcase_add_test(tcase, ignores_an_impossible_depth);
	tcase_add_test(tcase, starts_again_behind_a_head_that_jumped);
	tcase_add_loop_test(tcase, bounds_the_memory_of_threads_that_come_and_go, 0, 2);
	tcase_add_loop_test(tcase, survives_noise, 0, 8);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
