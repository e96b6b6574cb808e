/* SPDX-License-Identifier: Apache-2.0 */
/* Tests ranges: spans that their owner ends by a number, in whatever order the owners come. */
#include "lib/record/range.h"

#include <check.h>
#include <proftap/proftap.h>
#include <string.h>

#include "tests/unit/guest_fixture.h"
#include "tests/unit/unit.h"

static struct ring *ring;

static void setup(void)
{
	fixture_open();
	ring = fixture_ring(0);
	fixture_start(3);
}

static uint32_t fill_one(struct ring *at, struct slot *slots, uint32_t room, const void *context)
{
	(void)at;
	ck_assert_uint_ge(room, 1);
	slots[0] = (struct slot){
		{slot_word0(fixture_add_string("n"), SLOT_U64, 0), *(const uint64_t *)context}};
	return 1;
}

static void push(uint32_t owner, const char *name)
{
	range_push(owner, ptap_impl_word(), &(struct range_what){.name = name});
}

static void pop(uint32_t owner)
{
	range_pop(owner, ptap_impl_word());
}

/* Expects a span at |at| with the name |name|, which is in the slot after the record. */
static void expect(uint64_t at, const char *name, unsigned depth, unsigned n_extra)
{
	const struct slot *slot = fixture_slot(0, at);

	ck_assert_uint_eq(record_kind(slot->word[0]), RECORD_SPAN);
	ck_assert_uint_eq(record_depth(slot->word[0]), depth);
	ck_assert_uint_eq(record_n_extra(slot->word[0]), n_extra);
	ck_assert_uint_eq(slot_type(slot[1].word[0]), SLOT_NAME);
	ck_assert_str_eq((const char *)&slot[1].word[1], name);
}

static void expect_continued(uint64_t at)
{
	const struct slot *slot = fixture_slot(0, at);

	ck_assert_str_eq(fixture_string((uint32_t)slot->word[0] & STRING_ID_MASK), "continued");
	ck_assert_uint_eq(slot->word[1], 1);
}

START_TEST(a_range_is_a_span_with_its_arguments)
{
	static uint32_t id;
	uint64_t value = 7;
	struct range_what what = {.name = "range", .id = &id, .fill = fill_one, .context = &value};

	for (int i = 0; i < 2; i++) {
		range_push(1, ptap_impl_word(), &what);
		ck_assert_uint_eq(atomic_load(&ring->depth), 1);
		pop(1);
	}
	ck_assert_uint_eq(fixture_head(0), 4);
	ck_assert_uint_eq(record_kind(fixture_slot(0, 2)->word[0]), RECORD_SPAN);
	ck_assert_str_eq(fixture_name_of(fixture_slot(0, 2)), "range");
	ck_assert_uint_eq(fixture_slot(0, 2)->word[1] >> RECORD_DURATION_BITS, id);
	ck_assert_uint_eq(fixture_slot(0, 3)->word[1], 7);
}
END_TEST

START_TEST(a_name_that_found_no_room_is_copied)
{
	static uint32_t id = STRING_ID_LOST;

	range_push(1, ptap_impl_word(), &(struct range_what){.name = "lost", .id = &id});
	pop(1);
	expect(0, "lost", 0, 1);
}
END_TEST

START_TEST(an_end_closes_the_innermost_range_of_its_owner)
{
	push(1, "a");
	push(2, "b");
	push(2, "c");
	pop(2);
	pop(2);
	pop(1);
	expect(0, "c", 2, 1);
	expect(2, "b", 1, 1);
	expect(4, "a", 0, 1);
}
END_TEST

START_TEST(ranges_above_one_that_ends_go_on_beside_it)
{
	push(1, "a");
	push(2, "b");
	push(3, "c");
	pop(1);
	ck_assert_uint_eq(atomic_load(&ring->depth), 2);
	expect(0, "c", 2, 1);
	expect(2, "b", 1, 1);
	expect(4, "a", 0, 1);
	/* A third part, too, has only one argument "continued". */
	pop(2);
	pop(3);
	expect(6, "c", 1, 2);
	expect_continued(8);
	expect(9, "b", 0, 2);
	expect_continued(11);
	expect(12, "c", 0, 2);
	expect_continued(14);
	ck_assert_uint_eq(fixture_head(0), 15);
	ck_assert_uint_eq(fixture_lost(0, LOSS_LEFT_OPEN), 0);
	/* The second part does not begin before the first part's end. */
	ck_assert_uint_ge(fixture_start_of(fixture_slot(0, 9)),
		fixture_start_of(fixture_slot(0, 2)) + fixture_duration_of(fixture_slot(0, 2)));
}
END_TEST

START_TEST(a_full_ring_does_not_mix_up_open_ranges)
{
	push(1, "a");
	push(2, "b");
	push(3, "c");
	while (fixture_head(0) < FIXTURE_SLOTS) {
		push(4, "fill");
		pop(4);
	}
	pop(1);
	ck_assert_uint_eq(atomic_load(&ring->depth), 2);
	ck_assert_uint_eq(fixture_lost(0, LOSS_FULL), 3);
	fixture_empty(0);
	pop(3);
	pop(2);
	expect(FIXTURE_SLOTS, "c", 1, 2);
	expect(FIXTURE_SLOTS + 3, "b", 0, 2);
}
END_TEST

START_TEST(an_end_without_a_begin_closes_nothing)
{
	PTAP_BEGIN("span");
	pop(1);
	push(2, "b");
	pop(1);
	ck_assert_uint_eq(atomic_load(&ring->depth), 2);
	ck_assert_uint_eq(fixture_head(0), 0);
}
END_TEST

START_TEST(a_span_above_a_range_that_ends_is_dropped)
{
	push(1, "a");
	PTAP_BEGIN("span");
	pop(1);
	ck_assert_uint_eq(atomic_load(&ring->depth), 0);
	ck_assert_uint_eq(fixture_lost(0, LOSS_LEFT_OPEN), 1);
	expect(0, "a", 0, 1);
}
END_TEST

START_TEST(spans_and_ranges_nest)
{
	{
		PTAP_SPAN("outer");
		push(1, "range");
		{
			PTAP_SPAN_ARGS("inner", PTAP_I("n", 1));
		}
		pop(1);
	}
	ck_assert_uint_eq(fixture_head(0), 5);
	ck_assert_str_eq(fixture_name_of(fixture_slot(0, 0)), "inner");
	expect(2, "range", 1, 1);
	ck_assert_str_eq(fixture_name_of(fixture_slot(0, 4)), "outer");
}
END_TEST

/* The frame of a depth is used again. */
START_TEST(a_span_is_not_taken_for_the_range_before_it)
{
	push(1, "range");
	pop(1);
	{
		PTAP_SPAN_ARGS("span", PTAP_I("n", 1));
		pop(1);
		ck_assert_uint_eq(atomic_load(&ring->depth), 1);
	}
	PTAP_BEGIN("plain");
	pop(1);
	ck_assert_uint_eq(atomic_load(&ring->depth), 1);
}
END_TEST

START_TEST(ends_of_ranges_that_were_too_deep_close_nothing)
{
	for (unsigned i = 0; i < RECORD_MAX_DEPTH + 3; i++)
		push(1, "deep");
	ck_assert_uint_eq(fixture_lost(0, LOSS_DEPTH), 3);
	for (unsigned i = 0; i < 3; i++)
		pop(1);
	ck_assert_uint_eq(fixture_head(0), 0);
	pop(1);
	ck_assert_uint_eq(atomic_load(&ring->depth), RECORD_MAX_DEPTH - 1);
}
END_TEST

START_TEST(a_range_of_another_recording_does_not_end_in_this_one)
{
	push(1, "old");
	fixture_start(1);
	push(2, "new");
	pop(1);
	ck_assert_uint_eq(atomic_load(&ring->depth), 1);
	fixture_publish(0);
	pop(2);
	ck_assert_uint_eq(fixture_head(0), 0);
}
END_TEST

START_TEST(a_point_has_its_number_behind_the_name)
{
	uint64_t value = 9;
	struct range_what what = {.name = "async", .fill = fill_one, .context = &value};
	const struct slot *slot = fixture_slot(0, 0);

	push(1, "around");
	range_point(ptap_impl_word(), RECORD_ASYNC_BEGIN, &what);
	ck_assert_uint_eq(record_kind(slot->word[0]), RECORD_ASYNC_BEGIN);
	ck_assert_uint_eq(record_depth(slot->word[0]), 1);
	ck_assert_uint_eq(slot_type(slot[1].word[0]), SLOT_NAME);
	ck_assert_uint_eq(slot[2].word[1], 9);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(a_range_is_a_span_with_its_arguments),
	UNIT_TEST(a_name_that_found_no_room_is_copied),
	UNIT_TEST(an_end_closes_the_innermost_range_of_its_owner),
	UNIT_TEST(ranges_above_one_that_ends_go_on_beside_it),
	UNIT_TEST(a_full_ring_does_not_mix_up_open_ranges),
	UNIT_TEST(an_end_without_a_begin_closes_nothing),
	UNIT_TEST(a_span_above_a_range_that_ends_is_dropped),
	UNIT_TEST(spans_and_ranges_nest),
	UNIT_TEST(a_span_is_not_taken_for_the_range_before_it),
	UNIT_TEST(ends_of_ranges_that_were_too_deep_close_nothing),
	UNIT_TEST(a_range_of_another_recording_does_not_end_in_this_one),
	UNIT_TEST(a_point_has_its_number_behind_the_name),
	{NULL},
};

FIXTURE_MAIN_BOTH_WAYS("range", setup, fixture_close, tests)
