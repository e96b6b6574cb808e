/* SPDX-License-Identifier: Apache-2.0 */
/* Tests emptying the rings of programs that died in an annotation, or that write at random. */
#include "daemon/pipeline/drain/drain.h"

#include <check.h>
#include <malloc.h>
#include <proftap/proftap.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/drain_fixture.h"
#include "tests/unit/unit.h"

START_TEST(reads_spans_that_are_open)
{
	PTAP_BEGIN("outer");
	PTAP_BEGIN_DYN("dynamic");
	fixture_publish(0);
	drained_finish();
	ck_assert_uint_eq(drained.drain.logs[0]->n_open, 2);
	ck_assert_uint_eq(drained.drain.logs[0]->open[0].kind, RECORD_SPAN);
	ck_assert_uint_eq(drained.drain.logs[0]->open[0].n_slots, 0);
	ck_assert_str_eq(fixture_string(drained.drain.logs[0]->open[0].string_id), "outer");
	ck_assert_uint_eq(drained.drain.logs[0]->open[1].string_id, STRING_ID_DYNAMIC);
	ck_assert_uint_eq(drained.drain.logs[0]->open[1].n_slots, 1);
	ck_assert_uint_eq(slot_type(drained.drain.logs[0]->open[1].slots[0].word[0]), SLOT_NAME);
	ck_assert_mem_eq(&drained.drain.logs[0]->open[1].slots[0].word[1], "dynamic", 8);
}
END_TEST

/* The log of a part that could not be cut off for want of memory is read again. */
START_TEST(reads_open_spans_anew)
{
	int error = 0;

	PTAP_BEGIN("outer");
	PTAP_BEGIN("inner");
	drained_visit();
	drain_read_open(&drained.drain, &error);
	ck_assert_uint_eq(drained.drain.logs[0]->n_open, 2);
	PTAP_END();
	drain_read_open(&drained.drain, &error);
	ck_assert_uint_eq(drained.drain.logs[0]->n_open, 1);
	ck_assert_str_eq(fixture_string(drained.drain.logs[0]->open[0].string_id), "outer");
	PTAP_END();
	drain_read_open(&drained.drain, &error);
	ck_assert_uint_eq(drained.drain.logs[0]->n_open, 0);
	ck_assert_int_eq(error, 0);
}
END_TEST

/* The thread was killed after it had stored the record and before it had stored the depth. */
START_TEST(drops_an_open_span_that_is_the_last_record)
{
	PTAP_BEGIN("outer");
	PTAP_BEGIN("inner");
	PTAP_END();
	atomic_store(&drained.ring->depth, 2);
	drained_finish();
	ck_assert_uint_eq(drained.drain.logs[0]->n_slots, 1);
	ck_assert_uint_eq(drained.drain.logs[0]->n_open, 1);
	ck_assert_str_eq(fixture_string(drained.drain.logs[0]->open[0].string_id), "outer");
}
END_TEST

/* The last record is also found if the last visit has read it, or an earlier one. */
START_TEST(finds_the_last_record_of_several_visits)
{
	for (int i = 0; i < 5; i++) {
		PTAP_SPAN("sibling");
	}
	drained_visit();
	PTAP_BEGIN("outer");
	{
		PTAP_SPAN_ARGS("with arguments", PTAP_I("a", 1), PTAP_S("b", "a longer text"));
	}
	PTAP_BEGIN("inner");
	PTAP_END();
	atomic_store(&drained.ring->depth, 2);
	if (_i)
		drained_visit();
	drained_finish();
	ck_assert_uint_eq(drained.drain.logs[0]->n_open, 1);
	ck_assert_str_eq(fixture_string(drained.drain.logs[0]->open[0].string_id), "outer");
}
END_TEST

/*
 * A counter that is slower than the processor, as on processors other than x86, gives many events
 * the same time.
 */
static void give_all_the_same_time(uint64_t n_open)
{
	uint64_t start = atomic_load(&drained.ring->open[0].start);

	for (uint64_t i = 0; i < n_open; i++)
		atomic_store(&drained.ring->open[i].start, start);
	for (uint64_t at = 0; at < atomic_load(&drained.ring->head); at++) {
		struct slot *slot = fixture_slot(0, at);

		slot->word[0] = (slot->word[0] & ~RECORD_START_MASK) | (start & RECORD_START_MASK);
	}
}

START_TEST(keeps_open_spans_that_began_with_the_last_record)
{
	PTAP_BEGIN("outer");
	PTAP_BEGIN("middle");
	if (_i) {
		PTAP_SPAN("inner");
	} else {
		PTAP_INSTANT("point");
	}
	give_all_the_same_time(2);
	drained_finish();
	ck_assert_uint_eq(drained.drain.logs[0]->n_slots, 1);
	ck_assert_uint_eq(drained.drain.logs[0]->n_open, 2);
}
END_TEST

START_TEST(drops_open_spans_that_make_no_sense)
{
	PTAP_INSTANT("point");
	for (int i = 0; i < 5; i++)
		PTAP_BEGIN_DYN("open");
	atomic_store(&drained.ring->open[0].start, 0);
	atomic_store(&drained.ring->open[1].start, 0);
	atomic_store(&drained.ring->open[1].what, 0);
	atomic_store(&ring_frame(drained.ring, 2)->n_slots, RECORD_MAX_EXTRA + 1);
	atomic_store(&ring_frame(drained.ring, 3)->n_slots, UINT32_MAX);
	drained_finish();
	ck_assert_uint_eq(drained.drain.logs[0]->n_open, 1);
	ck_assert_mem_eq(&drained.drain.logs[0]->open[0].slots[0].word[1], "open", 5);
}
END_TEST

static _Atomic int quit;

/* Makes spans, where all arguments of a span have the same number. */
static void *begin_and_end(void *unused)
{
	for (int64_t i = 1; !quit; i++) {
		PTAP_SPAN_ARGS("numbered", PTAP_I("1", i), PTAP_I("2", i), PTAP_I("3", i),
			PTAP_I("4", i), PTAP_I("5", i), PTAP_I("6", i), PTAP_I("7", i),
			PTAP_I("8", i));
	}
	return unused;
}

static bool is_torn(const struct open_span *open)
{
	for (uint32_t i = 1; i < open->n_slots; i++)
		if (open->slots[i].word[1] != open->slots[0].word[1])
			return true;
	return open->n_slots != 8;
}

START_TEST(open_spans_of_a_running_thread_are_whole)
{
	unsigned n_torn = 0;
	unsigned n = 0;
	pthread_t thread;
	int error = 0;

	ck_assert_int_eq(pthread_create(&thread, NULL, begin_and_end, NULL), 0);
	while (n < 100000) {
		drained.budget.used_bytes = 0;
		if (drained.drain.n_logs == 0)
			drained_visit();
		drain_read_open(&drained.drain, &error);
		for (size_t i = 0; i < drained.drain.n_logs && ++n; i++)
			if (drained.drain.logs[i]->n_open)
				n_torn += (unsigned)is_torn(&drained.drain.logs[i]->open[0]);
	}
	quit = 1;
	pthread_join(thread, NULL);
	ck_assert_int_eq(error, 0);
	ck_assert_uint_eq(n_torn, 0);
}
END_TEST

START_TEST(ignores_an_impossible_depth)
{
	PTAP_BEGIN("open");
	atomic_store(&drained.ring->depth, RECORD_MAX_DEPTH + 1);
	drained_finish();
	ck_assert_uint_eq(drained.drain.logs[0]->n_open, 0);
}
END_TEST

START_TEST(starts_again_behind_a_head_that_jumped)
{
	PTAP_INSTANT("point");
	drained_visit();
	atomic_fetch_add(&drained.ring->head, UINT64_C(1) << 40);
	ck_assert_uint_eq(drained_visit(), 0);
	atomic_store(&drained.ring->head, 0); /* the head moves backwards */
	ck_assert_uint_eq(drained_visit(), 0);
	ck_assert_uint_eq(drained.drain.n_broken, 2);
	ck_assert_uint_eq(drained.drain.logs[0]->n_slots, 1);
	atomic_store(&drained.ring->tail, 12345); /* only the server's own copy counts */
	atomic_store(&drained.ring->head, 2);
	drained_visit();
	ck_assert_uint_eq(drained.drain.n_broken, 2);
	ck_assert_uint_eq(drained.drain.logs[0]->n_slots, 3);
	ck_assert_uint_eq(atomic_load(&drained.ring->tail), 2);
}
END_TEST

/* Makes a ring as a dead thread leaves it, with |n_records| records and |depth| open spans. */
static void fake_thread(uint32_t i, uint64_t n_records, uint32_t depth)
{
	struct ring *r = fixture_ring(i);

	for (uint32_t k = 0; k < depth; k++)
		atomic_store(&r->open[k].start, k + 1);
	atomic_store(&r->tid, INT32_MAX);
	atomic_store(&r->depth, depth);
	atomic_store(&r->word, drained.drain.word);
	r->limit = atomic_fetch_add(&r->head, n_records) + n_records;
	atomic_store(&fixture.arena->ring_state[i], RING_USED);
}

static size_t count_held_bytes(void)
{
	size_t bytes = 0;

	for (size_t i = 0; i < drained.drain.n_logs; i++)
		bytes += malloc_usable_size(drained.drain.logs[i]) +
			 malloc_usable_size(drained.drain.logs[i]->slots) +
			 malloc_usable_size(drained.drain.logs[i]->open);
	return bytes;
}

/*
 * Threads cost memory even if they record nearly nothing, and a program
 * may start any number of them.
 */
START_TEST(bounds_the_memory_of_threads_that_come_and_go)
{
	drained.budget.max_bytes = 1u << 20;
	for (int round = 0; round < 2000; round++) {
		for (uint32_t i = 0; i < FIXTURE_RINGS; i++)
			fake_thread(i, 1, _i ? RECORD_MAX_DEPTH : 0);
		drained_visit();
		drained.drain.next_reclaim_ns = 0;
		drained_visit();
	}
	/* Rings become free nevertheless. */
	for (uint32_t i = 0; i < FIXTURE_RINGS; i++)
		ck_assert_uint_eq(atomic_load(&fixture.arena->ring_state[i]), RING_FREE);
	drained_finish();
	ck_assert_uint_gt(drained.drain.n_logs, 1);
	ck_assert_uint_gt(drained.drain.lost_memory, 0);
	ck_assert_uint_lt(count_held_bytes(), 2 * drained.budget.max_bytes);
}
END_TEST

/* With nothing but noise in the rings the visit ends, and stays within its memory. */
START_TEST(survives_noise)
{
	uint32_t *noise = (uint32_t *)drained.ring;

	srand((unsigned)_i);
	PTAP_BEGIN("point");
	for (int round = 0; round < 20; round++) {
		uint64_t head = atomic_load(&drained.ring->head);

		for (size_t i = 0; i < ring_stride_bytes(FIXTURE_RING_BYTES) / 4; i++)
			noise[i] = (uint32_t)rand() * 3u;
		atomic_store(&drained.ring->word, drained.drain.word);
		if (round % 2) {
			atomic_store(&drained.ring->head, head + (unsigned)rand() % FIXTURE_SLOTS);
			drained.ring->limit = head + (unsigned)rand() % (3 * FIXTURE_SLOTS);
		}
		atomic_store(&drained.ring->depth, (unsigned)rand() % (2 * RECORD_MAX_DEPTH));
		drained_visit();
	}
	drained_finish();
	ck_assert_uint_le(drained.drain.logs[0]->n_open, RECORD_MAX_DEPTH);
	ck_assert_uint_le(drained.budget.used_bytes, drained.budget.max_bytes);
	ck_assert_uint_gt(drained.drain.n_broken, 0);
}
END_TEST

static const struct unit_test stopped_tests[] = {
	UNIT_TEST(reads_spans_that_are_open),
	UNIT_TEST(reads_open_spans_anew),
	UNIT_TEST(drops_an_open_span_that_is_the_last_record),
	UNIT_LOOP(finds_the_last_record_of_several_visits, 2),
	UNIT_LOOP(keeps_open_spans_that_began_with_the_last_record, 2),
	UNIT_TEST(drops_open_spans_that_make_no_sense),
	UNIT_TEST(ignores_an_impossible_depth),
	UNIT_TEST(starts_again_behind_a_head_that_jumped),
	UNIT_LOOP(bounds_the_memory_of_threads_that_come_and_go, 2),
	UNIT_LOOP(survives_noise, 8),
	{NULL},
};

static const struct unit_test running_tests[] = {
	UNIT_TEST(open_spans_of_a_running_thread_are_whole),
	{NULL},
};

static const struct unit cases[] = {
	{"drain_torn", .set_up = drained_setup, .tear_down = drained_teardown,
		.tests = stopped_tests},
	{"running", .set_up = drained_setup, .tear_down = drained_teardown, .tests = running_tests},
	{NULL},
};

UNIT_MAIN_OF("drain_torn", cases)
