/* SPDX-License-Identifier: Apache-2.0 */
/* The annotations, and what they leave in the ring of the thread that uses them. */
#include "lib/wire/ring.h"

#include <check.h>
#include <proftap/proftap.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tests/unit/guest_fixture.h"

static struct ring *ring;

static void setup(void)
{
	fixture_open();
	ring = fixture_ring(0);
	fixture_start(3);
}

static uint64_t head(void)
{
	return atomic_load(&ring->head);
}

static uint64_t lost(enum ring_loss reason)
{
	return atomic_load(&ring->lost[reason]);
}

static void one_span(void)
{
	PTAP_SPAN("one");
}

START_TEST(writes_one_record_at_the_end_of_a_span)
{
	uint64_t before = (uint64_t)monotonic_ns();
	uint64_t after;
	const struct slot *slot = fixture_slot(0, 0);

	{
		PTAP_SPAN("work");
		ck_assert_uint_eq(head(), 0);
		ck_assert_uint_eq(atomic_load(&ring->depth), 1);
	}
	after = (uint64_t)monotonic_ns();
	ck_assert_uint_eq(head(), 1);
	ck_assert_uint_eq(atomic_load(&ring->depth), 0);
	ck_assert_uint_eq(record_kind(slot->word[0]), RECORD_SPAN);
	ck_assert_uint_eq(record_n_extra(slot->word[0]), 0);
	ck_assert_str_eq(fixture_name_of(slot), "work");
	ck_assert_uint_ge(fixture_start_of(slot), before & RECORD_START_MASK);
	ck_assert_uint_le(
		fixture_start_of(slot) + fixture_duration_of(slot), after & RECORD_START_MASK);
}
END_TEST

START_TEST(writes_nothing_above_the_level)
{
	fixture_start(2);
	{
		PTAP_SPAN_LEVEL(3, "verbose");
		PTAP_SPAN_LEVEL(2, "info");
	}
	ck_assert_uint_eq(head(), 1);
	ck_assert_str_eq(fixture_name_of(fixture_slot(0, 0)), "info");
	ck_assert_int_eq(ptap_enabled(2), 1);
	ck_assert_int_eq(ptap_enabled(3), 0);
	fixture_publish(0);
	one_span();
	PTAP_INSTANT("point");
	PTAP_COUNTER("count", 1);
	ck_assert_uint_eq(head(), 1);
}
END_TEST

START_TEST(takes_a_level_below_1_for_1)
{
	fixture_start(1);
	for (int level = -1; level <= 1; level++) {
		PTAP_SPAN_LEVEL(level, "user");
		ck_assert_int_eq(ptap_enabled(level), 1);
	}
	ck_assert_uint_eq(head(), 3);
	fixture_publish(0);
	for (int level = -1; level <= 1; level++) {
		PTAP_SPAN_LEVEL(level, "user");
		ck_assert_int_eq(ptap_enabled(level), 0);
	}
	ck_assert_uint_eq(head(), 3);
	ck_assert_uint_eq(atomic_load(&fixture.arena->lost_no_ring), 0);
}
END_TEST

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
	ck_assert_uint_eq(head(), 4);
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

START_TEST(drops_what_a_longjmp_left_open)
{
	{
		PTAP_SPAN("outer");
		if (setjmp(jump) == 0)
			leave_by_longjmp();
		ck_assert_uint_eq(atomic_load(&ring->depth), 3);
	}
	ck_assert_uint_eq(head(), 1);
	ck_assert_str_eq(fixture_name_of(fixture_slot(0, 0)), "outer");
	ck_assert_uint_eq(record_depth(fixture_slot(0, 0)->word[0]), 0);
	ck_assert_uint_eq(atomic_load(&ring->depth), 0);
	ck_assert_uint_eq(lost(LOSS_LEFT_OPEN), 2);
}
END_TEST

static struct ptap_impl_site task_site = {0, {0}, "task"};

/* As two coroutines of one thread do that wait for each other. */
START_TEST(counts_spans_that_end_after_the_one_around_them)
{
	struct ptap_impl_token first = ptap_impl_begin(&task_site, ptap_impl_word());
	struct ptap_impl_token second = ptap_impl_begin(&task_site, ptap_impl_word());

	ptap_impl_end(first);
	ptap_impl_end(second);
	ck_assert_uint_eq(head(), 1);
	ck_assert_uint_eq(atomic_load(&ring->depth), 0);
	ck_assert_uint_eq(lost(LOSS_LEFT_OPEN), 1);
}
END_TEST

static void *end_span(void *token)
{
	ptap_impl_end(*(struct ptap_impl_token *)token);
	return NULL;
}

/* As a coroutine that goes on elsewhere, or an object that is destroyed there. */
START_TEST(keeps_a_span_open_that_another_thread_ends)
{
	struct ptap_impl_token token = ptap_impl_begin(&task_site, ptap_impl_word());
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, end_span, &token), 0);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(head(), 0);
	ck_assert_uint_eq(atomic_load(&ring->depth), 1);
	ck_assert_uint_eq(lost(LOSS_FOREIGN_END), 0);
	ck_assert_uint_eq(atomic_load(&fixture_ring(1)->head), 0);
	ck_assert_uint_eq(atomic_load(&fixture_ring(1)->lost[LOSS_FOREIGN_END]), 1);
	ptap_impl_end(token);
	ck_assert_uint_eq(head(), 1);
}
END_TEST

START_TEST(ignores_an_end_without_a_begin)
{
	one_span();
	PTAP_END();
	ck_assert_uint_eq(head(), 1);
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
	ck_assert_uint_eq(head(), 1);
	ptap_impl_end(outer);
	ptap_impl_end(inner);
	ck_assert_uint_eq(head(), 2);
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
	/* The old span's depth was 0: its end would have closed "still open". */
	ck_assert_uint_eq(head(), 1);
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
	ck_assert_uint_eq(head(), 0);
	ck_assert_uint_eq(atomic_load(&ring->depth), 1);
}
END_TEST

START_TEST(begins_each_capture_without_open_spans_and_losses)
{
	uint32_t word;

	PTAP_BEGIN("left open");
	atomic_store(&ring->lost[LOSS_FULL], 7);
	ring->guard = 1; /* as a siglongjmp out of a handler may leave it */
	word = fixture_start(1);
	one_span();
	ck_assert_uint_eq(atomic_load(&ring->word), word);
	ck_assert_uint_eq(lost(LOSS_FULL), 0);
	ck_assert_uint_eq(head(), 1);
	ck_assert_uint_eq(record_depth(fixture_slot(0, 0)->word[0]), 0);
}
END_TEST

START_TEST(drops_new_records_when_full_and_counts_them)
{
	for (uint32_t i = 0; i < FIXTURE_SLOTS + 10; i++)
		PTAP_COUNTER("n", i); /* two slots each */
	ck_assert_uint_eq(head(), FIXTURE_SLOTS);
	ck_assert_uint_eq(lost(LOSS_FULL), FIXTURE_SLOTS / 2 + 10);
	for (uint32_t i = 0; i < FIXTURE_SLOTS / 2; i++)
		ck_assert_uint_eq(fixture_slot(0, 2 * i + 1)->word[1], i);
	fixture_empty(0);
	one_span();
	ck_assert_uint_eq(head(), FIXTURE_SLOTS + 1);
	ck_assert_uint_eq(lost(LOSS_FULL), FIXTURE_SLOTS / 2 + 10);
}
END_TEST

START_TEST(drops_an_entry_that_fits_only_in_part)
{
	for (uint32_t i = 0; i < FIXTURE_SLOTS - 1; i++)
		one_span();
	PTAP_COUNTER("n", 1);
	ck_assert_uint_eq(lost(LOSS_FULL), 1);
	ck_assert_uint_eq(head(), FIXTURE_SLOTS - 1);
	one_span();
	ck_assert_uint_eq(head(), FIXTURE_SLOTS);
}
END_TEST

static void *fill_ring(void *n)
{
	for (uint32_t i = 0; i < FIXTURE_SLOTS + *(uint32_t *)n; i++)
		one_span();
	return NULL;
}

START_TEST(counts_losses_by_thread)
{
	uint32_t n[2] = {3, 5};
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, fill_ring, &n[i]), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(lost(LOSS_FULL) + atomic_load(&fixture_ring(1)->lost[LOSS_FULL]), 8);
	ck_assert(lost(LOSS_FULL) == 3 || lost(LOSS_FULL) == 5);
	ck_assert_int_ne(atomic_load(&ring->tid), atomic_load(&fixture_ring(1)->tid));
}
END_TEST

/* Entries of five slots: each of them lies across the ring's end once in a while. */
START_TEST(keeps_entries_whole_across_the_wrap)
{
	char text[4 * SLOT_BYTES - 8 + 1] = "";

	for (uint32_t i = 0; i < 3 * FIXTURE_SLOTS; i++) {
		uint64_t at = head();
		char got[sizeof text] = "";

		snprintf(text, sizeof text, "%055u.", i);
		PTAP_INSTANT_DYN(text);
		ck_assert_uint_eq(head(), at + 5);
		ck_assert_uint_eq(record_n_extra(fixture_slot(0, at)->word[0]), 4);
		ck_assert_uint_eq(slot_type(fixture_slot(0, at + 1)->word[0]), SLOT_NAME);
		memcpy(got, &fixture_slot(0, at + 1)->word[1], 8);
		for (uint32_t k = 0; k < 3; k++)
			memcpy(got + 8 + k * SLOT_BYTES, fixture_slot(0, at + 2 + k), SLOT_BYTES);
		ck_assert_str_eq(got, text);
		fixture_empty(0);
	}
	ck_assert_uint_eq(lost(LOSS_FULL), 0);
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
	ck_assert_uint_eq(lost(LOSS_DEPTH), 5);
	ck_assert_uint_eq(head(), RECORD_MAX_DEPTH);
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
	ck_assert_uint_eq(head(), 0);
	PTAP_END();
	ck_assert_uint_eq(atomic_load(&ring->depth), RECORD_MAX_DEPTH - 1);
	ck_assert_uint_eq(head(), 1);
}
END_TEST

START_TEST(dropped_begins_are_forgotten_with_their_capture)
{
	for (unsigned i = 0; i < RECORD_MAX_DEPTH + 3; i++)
		PTAP_BEGIN("deep");
	fixture_start(3);
	PTAP_BEGIN("next");
	PTAP_END();
	ck_assert_uint_eq(head(), 1);
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

/* As if the innermost open span had begun |ticks| ago. */
static void age(uint64_t ticks)
{
	uint32_t at = atomic_load(&ring->depth) - 1;
	uint64_t start = atomic_load(&ring->open[at].start) - ticks;
	uint64_t what = atomic_load(&ring->open[at].what) & UINT32_MAX;

	atomic_store(&ring->open[at].start, start);
	atomic_store(&ring->open[at].what, what | start << 32);
}

START_TEST(gives_very_long_durations_a_slot)
{
	const struct slot *slot = fixture_slot(0, 0);

	PTAP_BEGIN("long");
	age(UINT64_C(1) << 41);
	PTAP_END();
	ck_assert_uint_eq(head(), 2);
	ck_assert_uint_eq(record_n_extra(slot->word[0]), 1);
	ck_assert_uint_eq(fixture_duration_of(slot), RECORD_DURATION_MASK);
	ck_assert_str_eq(fixture_name_of(slot), "long");
	ck_assert_uint_eq(slot_type(slot[1].word[0]), SLOT_DURATION);
	ck_assert_uint_ge(slot[1].word[1], UINT64_C(1) << 41);
	ck_assert_uint_lt(slot[1].word[1], (UINT64_C(1) << 41) + 60 * (uint64_t)NS_PER_S);
	PTAP_BEGIN_DYN("longer");
	age(UINT64_C(1) << 45);
	PTAP_END();
	ck_assert_uint_eq(record_n_extra(slot[2].word[0]), 2);
	ck_assert_uint_eq(slot_type(slot[3].word[0]), SLOT_NAME);
	ck_assert_uint_eq(slot_type(slot[4].word[0]), SLOT_DURATION);
}
END_TEST

START_TEST(takes_a_clock_that_steps_back_as_no_time)
{
	PTAP_BEGIN("backwards");
	age(0 - (UINT64_C(1) << 30));
	PTAP_END();
	ck_assert_uint_eq(fixture_duration_of(fixture_slot(0, 0)), 0);
	ck_assert_uint_eq(head(), 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ring");
	TCase *tcase = tcase_create("ring");
	SRunner *runner;

	tcase_add_checked_fixture(tcase, setup, fixture_close);
	tcase_add_test(tcase, writes_one_record_at_the_end_of_a_span);
	tcase_add_test(tcase, writes_nothing_above_the_level);
	tcase_add_test(tcase, takes_a_level_below_1_for_1);
	tcase_add_test(tcase, records_the_depth_of_nesting);
	tcase_add_test(tcase, drops_what_a_longjmp_left_open);
	tcase_add_test(tcase, counts_spans_that_end_after_the_one_around_them);
	tcase_add_test(tcase, keeps_a_span_open_that_another_thread_ends);
	tcase_add_test(tcase, ignores_an_end_without_a_begin);
	tcase_add_test(tcase, ends_a_span_once);
	tcase_add_test(tcase, ignores_the_end_of_a_span_of_another_capture);
	tcase_add_test(tcase, keeps_a_span_open_that_outlives_the_capture);
	tcase_add_test(tcase, begins_each_capture_without_open_spans_and_losses);
	tcase_add_test(tcase, drops_new_records_when_full_and_counts_them);
	tcase_add_test(tcase, drops_an_entry_that_fits_only_in_part);
	tcase_add_test(tcase, counts_losses_by_thread);
	tcase_add_test(tcase, keeps_entries_whole_across_the_wrap);
	tcase_add_test(tcase, counts_spans_that_are_too_deep);
	tcase_add_test(tcase, ends_of_dropped_begins_close_nothing);
	tcase_add_test(tcase, dropped_begins_are_forgotten_with_their_capture);
	tcase_add_test(tcase, records_points_below_the_deepest_span);
	tcase_add_test(tcase, gives_very_long_durations_a_slot);
	tcase_add_test(tcase, takes_a_clock_that_steps_back_as_no_time);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
