/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests annotations, and their records in the ring of their thread: the fast path and the
 * slow one must leave the same.
 */
#include "lib/wire/ring.h"

#include <check.h>
#include <proftap/proftap.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "lib/record/thread.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/unit.h"

static struct ring *ring;

static void setup(void)
{
	fixture_open();
	ring = fixture_ring(0);
	fixture_start(3);
}

static void one_span(void)
{
	PTAP_SPAN("one");
}

START_TEST(writes_one_record_at_the_end_of_a_span)
{
	uint64_t before = fixture_now();
	uint64_t after;
	const struct slot *slot = fixture_slot(0, 0);

	{
		PTAP_SPAN("work");
		ck_assert_uint_eq(fixture_head(0), 0);
		ck_assert_uint_eq(atomic_load(&ring->depth), 1);
	}
	after = fixture_now();
	ck_assert_uint_eq(fixture_head(0), 1);
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
	ck_assert_uint_eq(fixture_head(0), 1);
	ck_assert_str_eq(fixture_name_of(fixture_slot(0, 0)), "info");
	ck_assert_int_eq(ptap_enabled(2), 1);
	ck_assert_int_eq(ptap_enabled(3), 0);
	fixture_publish(0);
	one_span();
	PTAP_INSTANT("point");
	PTAP_COUNTER("count", 1);
	ck_assert_uint_eq(fixture_head(0), 1);
}
END_TEST

START_TEST(takes_a_level_below_1_for_1)
{
	fixture_start(1);
	for (int level = -1; level <= 1; level++) {
		PTAP_SPAN_LEVEL(level, "user");
		ck_assert_int_eq(ptap_enabled(level), 1);
	}
	ck_assert_uint_eq(fixture_head(0), 3);
	fixture_publish(0);
	for (int level = -1; level <= 1; level++) {
		PTAP_SPAN_LEVEL(level, "user");
		ck_assert_int_eq(ptap_enabled(level), 0);
	}
	ck_assert_uint_eq(fixture_head(0), 3);
	ck_assert_uint_eq(atomic_load(&fixture.arena->lost_no_ring), 0);
}
END_TEST

START_TEST(begins_each_capture_without_open_spans_and_losses)
{
	uint32_t word;

	PTAP_BEGIN("left open");
	atomic_store(&ring->lost[LOSS_FULL], 7);
	thread_self.idle = 0; /* as a siglongjmp out of a handler may leave it */
	word = fixture_start(1);
	one_span();
	ck_assert_uint_eq(atomic_load(&ring->word), word);
	ck_assert_uint_eq(fixture_lost(0, LOSS_FULL), 0);
	ck_assert_uint_eq(fixture_head(0), 1);
	ck_assert_uint_eq(record_depth(fixture_slot(0, 0)->word[0]), 0);
}
END_TEST

START_TEST(drops_new_records_when_full_and_counts_them)
{
	for (uint32_t i = 0; i < FIXTURE_SLOTS + 10; i++)
		PTAP_COUNTER("n", i); /* two slots each */
	ck_assert_uint_eq(fixture_head(0), FIXTURE_SLOTS);
	ck_assert_uint_eq(fixture_lost(0, LOSS_FULL), FIXTURE_SLOTS / 2 + 10);
	for (uint32_t i = 0; i < FIXTURE_SLOTS / 2; i++)
		ck_assert_uint_eq(fixture_slot(0, 2 * i + 1)->word[1], i);
	fixture_empty(0);
	one_span();
	ck_assert_uint_eq(fixture_head(0), FIXTURE_SLOTS + 1);
	ck_assert_uint_eq(fixture_lost(0, LOSS_FULL), FIXTURE_SLOTS / 2 + 10);
}
END_TEST

START_TEST(drops_an_entry_that_fits_only_in_part)
{
	for (uint32_t i = 0; i < FIXTURE_SLOTS - 1; i++)
		one_span();
	PTAP_COUNTER("n", 1);
	ck_assert_uint_eq(fixture_lost(0, LOSS_FULL), 1);
	ck_assert_uint_eq(fixture_head(0), FIXTURE_SLOTS - 1);
	one_span();
	ck_assert_uint_eq(fixture_head(0), FIXTURE_SLOTS);
}
END_TEST

/* Wherever the reader is in a segment, no slot that it has not taken is overwritten. */
START_TEST(never_overwrites_slots_that_were_not_read)
{
	uint64_t tail;

	for (uint32_t i = 0; i < 100; i++)
		one_span();
	fixture_empty(0);
	tail = fixture_head(0);
	for (uint32_t i = 0; i < FIXTURE_SLOTS; i++)
		PTAP_COUNTER("n", i);
	ck_assert_uint_eq(fixture_head(0), tail + FIXTURE_SLOTS);
	ck_assert_uint_eq(fixture_lost(0, LOSS_FULL), FIXTURE_SLOTS / 2);
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
	ck_assert_uint_eq(fixture_lost(0, LOSS_FULL) + fixture_lost(1, LOSS_FULL), 8);
	ck_assert(fixture_lost(0, LOSS_FULL) == 3 || fixture_lost(0, LOSS_FULL) == 5);
	ck_assert_int_ne(atomic_load(&ring->tid), atomic_load(&fixture_ring(1)->tid));
}
END_TEST

/* Each entry has five slots, so from time to time one lies across the ring's end. */
START_TEST(keeps_entries_whole_across_the_wrap)
{
	char text[4 * SLOT_BYTES - 8 + 1] = "";

	for (uint32_t i = 0; i < 3 * FIXTURE_SLOTS; i++) {
		uint64_t at = fixture_head(0);
		char got[sizeof text] = "";

		snprintf(text, sizeof text, "%055u.", i);
		PTAP_INSTANT_DYN(text);
		ck_assert_uint_eq(fixture_head(0), at + 5);
		ck_assert_uint_eq(record_n_extra(fixture_slot(0, at)->word[0]), 4);
		ck_assert_uint_eq(slot_type(fixture_slot(0, at + 1)->word[0]), SLOT_NAME);
		memcpy(got, &fixture_slot(0, at + 1)->word[1], 8);
		for (uint32_t k = 0; k < 3; k++)
			memcpy(got + 8 + k * SLOT_BYTES, fixture_slot(0, at + 2 + k), SLOT_BYTES);
		ck_assert_str_eq(got, text);
		fixture_empty(0);
	}
	ck_assert_uint_eq(fixture_lost(0, LOSS_FULL), 0);
}
END_TEST

/* Returns the number in the slot at |at|. */
static uint64_t number_at(uint64_t at)
{
	return fixture_slot(0, at)->word[1];
}

/*
 * Entries have two and three slots in turns, and begin elsewhere than in the lap before, so that
 * they also lie across the ring's end.
 */
START_TEST(keeps_numbers_whole_across_the_wrap)
{
	for (uint32_t i = 0; i < 3 * FIXTURE_SLOTS; i++) {
		uint64_t at = fixture_head(0);

		PTAP_COUNTER("counter", i);
		{
			PTAP_SPAN_ARGS("args", PTAP_U("first", i + 1), PTAP_U("second", i + 2));
		}
		ck_assert_uint_eq(fixture_head(0), at + 5);
		ck_assert_uint_eq(record_kind(fixture_slot(0, at)->word[0]), RECORD_COUNTER);
		ck_assert_uint_eq(number_at(at + 1), i);
		ck_assert_uint_eq(record_kind(fixture_slot(0, at + 2)->word[0]), RECORD_SPAN);
		ck_assert_uint_eq(number_at(at + 3), i + 1);
		ck_assert_uint_eq(number_at(at + 4), i + 2);
		fixture_empty(0);
	}
	ck_assert_uint_eq(fixture_lost(0, LOSS_FULL), 0);
}
END_TEST

/* Makes the innermost open span begin |ticks| ago. */
static void age(uint64_t ticks)
{
	uint32_t at = atomic_load(&ring->depth) - 1;
	uint64_t start = atomic_load(&ring->open[at].start) - ticks;

	atomic_store(&ring->open[at].start, start);
}

START_TEST(gives_very_long_durations_a_slot)
{
	const struct slot *slot = fixture_slot(0, 0);

	PTAP_BEGIN("long");
	age(UINT64_C(1) << 41);
	PTAP_END();
	ck_assert_uint_eq(fixture_head(0), 2);
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
	ck_assert_uint_eq(fixture_head(0), 1);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(writes_one_record_at_the_end_of_a_span),
	UNIT_TEST(writes_nothing_above_the_level),
	UNIT_TEST(takes_a_level_below_1_for_1),
	UNIT_TEST(begins_each_capture_without_open_spans_and_losses),
	UNIT_TEST(drops_new_records_when_full_and_counts_them),
	UNIT_TEST(drops_an_entry_that_fits_only_in_part),
	UNIT_TEST(never_overwrites_slots_that_were_not_read),
	UNIT_TEST(counts_losses_by_thread),
	UNIT_TEST(keeps_entries_whole_across_the_wrap),
	UNIT_TEST(keeps_numbers_whole_across_the_wrap),
	UNIT_TEST(gives_very_long_durations_a_slot),
	UNIT_TEST(takes_a_clock_that_steps_back_as_no_time),
	{NULL},
};

FIXTURE_MAIN_BOTH_WAYS("ring", setup, fixture_close, tests)
