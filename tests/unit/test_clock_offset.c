/* SPDX-License-Identifier: Apache-2.0 */
#include "client/answer/clock_offset.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

#define MS INT64_C(1000000)
#define NOW INT64_C(1700000000000000000)

/* A round trip of 2 ms to a machine whose clock differs from ours by |offset_ns|. */
static struct clock_round round_trip(int64_t offset_ns)
{
	return (struct clock_round){
		.sent_unix_ns = NOW,
		.sent_monotonic_ns = 500 * MS,
		.received_monotonic_ns = 502 * MS,
		.unix_ns = (uint64_t)(NOW + MS + offset_ns),
		.monotonic_ns = 7777 * (uint64_t)MS,
	};
}

static void expect_text(const struct clock_offset *offset, const char *expected)
{
	char text[64];

	clock_offset_format(offset, text, sizeof text);
	ck_assert_str_eq(text, expected);
}

START_TEST(is_half_a_round_trip_from_ours)
{
	struct clock_round round = round_trip(-5 * MS);
	struct clock_offset offset;

	ck_assert(clock_offset_judge(&round, &offset));
	ck_assert(offset.is_known);
	ck_assert_int_eq(offset.offset_ns, -5 * MS);
	ck_assert_int_ge(offset.uncertainty_ns, MS);
	ck_assert_int_le(offset.uncertainty_ns, MS + 1);
	ck_assert_int_eq(clock_offset_convert(&offset, NOW), NOW - 5 * MS);
	expect_text(&offset, "clock -5.000 ms ± 1.000 ms");
}
END_TEST

START_TEST(is_zero_on_the_same_kernel)
{
	struct clock_round round = round_trip(0);
	struct clock_offset offset;

	round.monotonic_ns = 501 * (uint64_t)MS;
	/* An asymmetrical round trip is not an offset. */
	round.unix_ns += 900000;
	ck_assert(clock_offset_judge(&round, &offset));
	ck_assert_int_eq(offset.offset_ns, 0);
	ck_assert_int_eq(offset.uncertainty_ns, 0);
	expect_text(&offset, "same clock");
}
END_TEST

START_TEST(is_unknown_when_the_answer_is_nonsense)
{
	struct clock_round round = round_trip(0);
	struct clock_offset offset = {.is_known = false};

	round.unix_ns = 0;
	ck_assert(!clock_offset_judge(&round, &offset));
	round.unix_ns = UINT64_MAX;
	ck_assert(!clock_offset_judge(&round, &offset));
	ck_assert_int_eq(clock_offset_convert(&offset, NOW), NOW);
	expect_text(&offset, "clock unknown");
}
END_TEST

START_TEST(is_in_the_middle_of_what_is_possible)
{
	/* The server recorded 20 of the 80 ms of the call, by a clock that is about 1 s ahead. */
	struct clock_bracket bracket = {
		.sent_unix_ns = NOW,
		.answered_unix_ns = NOW + 80 * MS,
		.start_ns = NOW + 1010 * MS,
		.stop_ns = NOW + 1030 * MS,
	};
	struct clock_offset offset;

	ck_assert(clock_offset_bracket(&bracket, &offset));
	ck_assert(offset.is_known && offset.is_bracket);
	ck_assert_int_eq(offset.offset_ns, 980 * MS);
	ck_assert_int_ge(offset.uncertainty_ns, 30 * MS);
	ck_assert_int_le(offset.uncertainty_ns, 30 * MS + 1);
	/* The recording would be longer than the call. */
	bracket.stop_ns = bracket.start_ns + 81 * MS;
	ck_assert(!clock_offset_bracket(&bracket, &offset));
	bracket.stop_ns = bracket.start_ns - 1;
	ck_assert(!clock_offset_bracket(&bracket, &offset));
	bracket.stop_ns = INT64_MAX;
	ck_assert(!clock_offset_bracket(&bracket, &offset));
	bracket.start_ns = bracket.stop_ns = 0;
	ck_assert(!clock_offset_bracket(&bracket, &offset));
}
END_TEST

START_TEST(converted_times_stay_in_range)
{
	const struct clock_offset behind = {.is_known = true, .offset_ns = -5 * MS};
	const struct clock_offset ahead = {.is_known = true, .offset_ns = 5 * MS};

	ck_assert_int_eq(clock_offset_convert(&behind, 1), 1);
	ck_assert_int_eq(clock_offset_convert(&behind, 5 * MS), 1);
	ck_assert_int_eq(clock_offset_convert(&behind, 5 * MS + 2), 2);
	ck_assert_int_eq(clock_offset_convert(&ahead, INT64_MAX - 1), INT64_MAX);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(is_half_a_round_trip_from_ours),
	UNIT_TEST(is_zero_on_the_same_kernel),
	UNIT_TEST(converted_times_stay_in_range),
	UNIT_TEST(is_in_the_middle_of_what_is_possible),
	UNIT_TEST(is_unknown_when_the_answer_is_nonsense),
	{NULL},
};

UNIT_MAIN("clock_offset", .tests = tests)
