/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the stack of a thread's open spans: begins and ends that do not belong
 * together, and too many spans.
 */
#include "lib/wire/ring.h"

#include <check.h>
#include <proftap/proftap.h>
#include <pthread.h>
#include <setjmp.h>

#include "tests/unit/guest_fixture.h"
#include "tests/unit/unit.h"

static struct ring *ring;

static void setup(void)
{
	fixture_open();
	ring = fixture_ring(0);
	fixture_start(3);
}

START_TEST(records_the_depth_of_nesting)
{
	{
		PTAP_SPAN("a");
		{
			PTAP_SPAN("b");
			PTAP_INSTANT("i");
			PTAP_BEGIN("c");
			PTAP_END();
		}
	}
	ck_assert_uint_eq(fixture_head(0), 4);
	ck_assert_uint_eq(record_depth(fixture_slot(0, 0)->word[0]), 2);
	ck_assert_uint_eq(record_kind(fixture_slot(0, 0)->word[0]), RECORD_INSTANT);
	ck_assert_str_eq(fixture_name_of(fixture_slot(0, 1)), "c");
	ck_assert_uint_eq(record_depth(fixture_slot(0, 1)->word[0]), 2);
	ck_assert_str_eq(fixture_name_of(fixture_slot(0, 2)), "b");
	ck_assert_uint_eq(record_depth(fixture_slot(0, 2)->word[0]), 1);
	ck_assert_str_eq(fixture_name_of(fixture_slot(0, 3)), "a");
	ck_assert_uint_eq(record_depth(fixture_slot(0, 3)->word[0]), 0);
}
END_TEST

static jmp_buf jump;

static __attribute__((noinline)) void leave_by_longjmp(void)
{
	PTAP_SPAN("left 1");
	{
		PTAP_SPAN("left 2");
		longjmp(jump, 1);
	}
}

START_TEST(drops_spans_that_a_longjmp_left_open)
{
	{
		PTAP_SPAN("outer");
		if (setjmp(jump) == 0)
			leave_by_longjmp();
		ck_assert_uint_eq(atomic_load(&ring->depth), 3);
	}
	ck_assert_uint_eq(fixture_head(0), 1);
	ck_assert_str_eq(fixture_name_of(fixture_slot(0, 0)), "outer");
	ck_assert_uint_eq(record_depth(fixture_slot(0, 0)->word[0]), 0);
	ck_assert_uint_eq(atomic_load(&ring->depth), 0);
	ck_assert_uint_eq(fixture_lost(0, LOSS_LEFT_OPEN), 2);
}
END_TEST

static struct ptap_impl_site task_site = {0, {0}, "task"};

/* Two coroutines of one thread that wait for each other do this. */
START_TEST(counts_spans_that_end_after_the_one_around_them)
{
	struct ptap_impl_token first = ptap_impl_begin(&task_site, ptap_impl_word());
	struct ptap_impl_token second = ptap_impl_begin(&task_site, ptap_impl_word());

	ptap_impl_end(first);
	ptap_impl_end(second);
	ck_assert_uint_eq(fixture_head(0), 1);
	ck_assert_uint_eq(atomic_load(&ring->depth), 0);
	ck_assert_uint_eq(fixture_lost(0, LOSS_LEFT_OPEN), 1);
}
END_TEST

static void *end_span(void *token)
{
	ptap_impl_end(*(struct ptap_impl_token *)token);
	return NULL;
}

/* A coroutine that continues on another thread does this, or an object that is destroyed there. */
START_TEST(keeps_a_span_open_that_another_thread_ends)
{
	struct ptap_impl_token token = ptap_impl_begin(&task_site, ptap_impl_word());
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, end_span, &token), 0);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(fixture_head(0), 0);
	ck_assert_uint_eq(atomic_load(&ring->depth), 1);
	ck_assert_uint_eq(fixture_lost(0, LOSS_FOREIGN_END), 0);
	ck_assert_uint_eq(fixture_head(1), 0);
	ck_assert_uint_eq(fixture_lost(1, LOSS_FOREIGN_END), 1);
	ptap_impl_end(token);
	ck_assert_uint_eq(fixture_head(0), 1);
}
END_TEST

START_TEST(ignores_an_end_without_a_begin)
{
	{
		PTAP_SPAN("one");
	}
	PTAP_END();
	ck_assert_uint_eq(fixture_head(0), 1);
	ck_assert_uint_eq(atomic_load(&ring->depth), 0);
}
END_TEST

START_TEST(ends_a_span_once)
{
	static struct ptap_impl_site site = {0, {0}, "twice"};
	struct ptap_impl_token outer = ptap_impl_begin(&site, ptap_impl_word());
	struct ptap_impl_token inner = ptap_impl_begin(&site, ptap_impl_word());

	ptap_impl_end(inner);
	ptap_impl_end(inner);
	ck_assert_uint_eq(fixture_head(0), 1);
	ptap_impl_end(outer);
	ptap_impl_end(inner);
	ck_assert_uint_eq(fixture_head(0), 2);
}
END_TEST

START_TEST(ignores_the_end_of_a_span_of_another_capture)
{
	{
		PTAP_SPAN("old");
		fixture_start(1);
		{
			PTAP_SPAN("new");
		}
		PTAP_BEGIN("still open");
	}
	/* The old span had depth 0, so its end would have closed "still open". */
	ck_assert_uint_eq(fixture_head(0), 1);
	ck_assert_str_eq(fixture_name_of(fixture_slot(0, 0)), "new");
	ck_assert_uint_eq(atomic_load(&ring->depth), 1);
}
END_TEST

START_TEST(keeps_a_span_open_that_outlives_the_capture)
{
	{
		PTAP_SPAN("late");
		fixture_publish(0);
	}
	ck_assert_uint_eq(fixture_head(0), 0);
	ck_assert_uint_eq(atomic_load(&ring->depth), 1);
}
END_TEST

static void nest(unsigned levels)
{
	PTAP_SPAN("deep");

	if (levels > 1)
		nest(levels - 1);
}

START_TEST(counts_spans_that_are_too_deep)
{
	nest(RECORD_MAX_DEPTH + 5);
	ck_assert_uint_eq(fixture_lost(0, LOSS_DEPTH), 5);
	ck_assert_uint_eq(fixture_head(0), RECORD_MAX_DEPTH);
	ck_assert_uint_eq(record_depth(fixture_slot(0, 0)->word[0]), RECORD_MAX_DEPTH - 1);
	ck_assert_uint_eq(atomic_load(&ring->depth), 0);
}
END_TEST

/* An end belongs to the begin that was dropped, not to the span around it. */
START_TEST(ends_of_dropped_begins_close_nothing)
{
	for (unsigned i = 0; i < RECORD_MAX_DEPTH + 3; i++)
		PTAP_BEGIN("deep");
	for (unsigned i = 0; i < 3; i++)
		PTAP_END();
	ck_assert_uint_eq(atomic_load(&ring->depth), RECORD_MAX_DEPTH);
	ck_assert_uint_eq(fixture_head(0), 0);
	PTAP_END();
	ck_assert_uint_eq(atomic_load(&ring->depth), RECORD_MAX_DEPTH - 1);
	ck_assert_uint_eq(fixture_head(0), 1);
}
END_TEST

START_TEST(dropped_begins_are_forgotten_with_their_capture)
{
	for (unsigned i = 0; i < RECORD_MAX_DEPTH + 3; i++)
		PTAP_BEGIN("deep");
	fixture_start(3);
	PTAP_BEGIN("next");
	PTAP_END();
	ck_assert_uint_eq(fixture_head(0), 1);
	ck_assert_str_eq(fixture_name_of(fixture_slot(0, 0)), "next");
}
END_TEST

START_TEST(records_points_below_the_deepest_span)
{
	for (unsigned i = 0; i < RECORD_MAX_DEPTH; i++)
		PTAP_BEGIN("deep");
	PTAP_INSTANT("point");
	ck_assert_uint_eq(record_depth(fixture_slot(0, 0)->word[0]), RECORD_MAX_DEPTH - 1);
	ck_assert_uint_eq(record_kind(fixture_slot(0, 0)->word[0]), RECORD_INSTANT);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(records_the_depth_of_nesting),
	UNIT_TEST(drops_spans_that_a_longjmp_left_open),
	UNIT_TEST(counts_spans_that_end_after_the_one_around_them),
	UNIT_TEST(keeps_a_span_open_that_another_thread_ends),
	UNIT_TEST(ignores_an_end_without_a_begin),
	UNIT_TEST(ends_a_span_once),
	UNIT_TEST(ignores_the_end_of_a_span_of_another_capture),
	UNIT_TEST(keeps_a_span_open_that_outlives_the_capture),
	UNIT_TEST(counts_spans_that_are_too_deep),
	UNIT_TEST(ends_of_dropped_begins_close_nothing),
	UNIT_TEST(dropped_begins_are_forgotten_with_their_capture),
	UNIT_TEST(records_points_below_the_deepest_span),
	{NULL},
};

FIXTURE_MAIN_BOTH_WAYS("open_spans", setup, fixture_close, tests)
