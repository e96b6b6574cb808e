/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the conversion of a collector's clock to CLOCK_MONOTONIC: with two anchors, one or none,
 * and if somebody sets the clock meanwhile.
 */
#include "daemon/pipeline/devices/device_clock.h"

#include <check.h>
#include <stdlib.h>

#include "tests/unit/unit.h"

#define EPOCH UINT64_C(1700000000000000000)
#define S UINT64_C(1000000000)
#define MS UINT64_C(1000000)

static struct device_clock own;

static void begin(void)
{
	own = (struct device_clock){.is_known = 0};
}

static int64_t convert(uint64_t at_ns)
{
	int64_t ns;

	ck_assert_int_eq(device_clock_convert(&own, at_ns, &ns), 1);
	return ns;
}

START_TEST(knows_nothing_without_an_anchor)
{
	int64_t ns;

	device_clock_settle(&own);
	ck_assert_int_eq(device_clock_convert(&own, EPOCH, &ns), 0);
	ck_assert_int_eq(own.was_set, 0);
}
END_TEST

START_TEST(has_an_offset_from_one_anchor)
{
	ck_assert_int_eq(device_clock_add(&own, EPOCH, 5 * S), 1);
	device_clock_settle(&own);
	ck_assert_int_eq(convert(EPOCH + 3), (int64_t)(5 * S + 3));
	ck_assert_int_eq(convert(EPOCH - 3), (int64_t)(5 * S - 3));
	ck_assert_int_eq(own.was_set, 0);
}
END_TEST

/*
 * The clock is 50 ppm slow, which is half a millisecond in ten seconds. Anchors come in any order,
 * and only the first and the last count.
 */
START_TEST(draws_a_line_through_the_first_and_the_last)
{
	device_clock_add(&own, EPOCH + 10 * S, 15 * S + MS / 2);
	device_clock_add(&own, EPOCH + 7 * S, 14 * S);
	device_clock_add(&own, EPOCH, 5 * S);
	device_clock_settle(&own);
	ck_assert_int_eq(own.was_set, 0);
	ck_assert_int_eq(convert(EPOCH), (int64_t)(5 * S));
	ck_assert_int_eq(llabs(convert(EPOCH + 5 * S) - (int64_t)(10 * S + MS / 4)) <= 1, 1);
	ck_assert_int_eq(llabs(convert(EPOCH + 20 * S) - (int64_t)(25 * S + MS)) <= 1, 1);
}
END_TEST

static void expect_first_alone(uint64_t at_ns, uint64_t monotonic_ns)
{
	begin();
	device_clock_add(&own, EPOCH, 5 * S);
	device_clock_add(&own, EPOCH + at_ns, 5 * S + monotonic_ns);
	device_clock_settle(&own);
	ck_assert_int_eq(own.was_set, 1);
	ck_assert_int_eq(convert(EPOCH + S), (int64_t)(6 * S));
}

START_TEST(uses_the_first_alone_when_the_clock_was_set)
{
	expect_first_alone(10 * S, 10 * S + 2 * MS);
	expect_first_alone(10 * S, 10 * S - 2 * MS);
	expect_first_alone(0 - 3600 * S, 10 * S);
	/* The difference is below a millisecond, but no clock runs so wrong. */
	expect_first_alone(100 * MS, 100 * MS + MS / 2);
	expect_first_alone(0 - (UINT64_C(1) << 62), S);
}
END_TEST

/*
 * The two clocks are read one after the other. In a capture of some milliseconds that
 * delay alone exceeds 500 ppm.
 */
START_TEST(takes_a_late_reading_for_no_clock_that_was_set)
{
	device_clock_add(&own, EPOCH, 5 * S);
	device_clock_add(&own, EPOCH + 10 * MS, 5 * S + 10 * MS + 50000);
	device_clock_settle(&own);
	ck_assert_int_eq(own.was_set, 0);
	ck_assert_int_eq(convert(EPOCH + 5 * MS), (int64_t)(5 * S + 5 * MS));
}
END_TEST

START_TEST(refuses_impossible_times)
{
	int64_t ns;

	ck_assert_int_eq(device_clock_add(&own, EPOCH, UINT64_MAX), 0);
	ck_assert_int_eq(device_clock_add(&own, EPOCH, UINT64_C(1) << 62), 0);
	ck_assert_int_eq(own.is_known, 0);
	ck_assert_int_eq(device_clock_add(&own, EPOCH, 5 * S), 1);
	device_clock_settle(&own);
	ck_assert_int_eq(device_clock_convert(&own, 0, &ns), 0);
	ck_assert_int_eq(device_clock_convert(&own, UINT64_MAX, &ns), 0);
}
END_TEST

START_TEST(never_goes_back)
{
	int64_t last = INT64_MIN;

	device_clock_add(&own, EPOCH, 5 * S);
	device_clock_add(&own, EPOCH + S, 6 * S - 400000);
	device_clock_settle(&own);
	for (uint64_t i = 0; i < 100000; i++) {
		int64_t ns = convert(EPOCH + 1000 * S + i);

		ck_assert_int_ge(ns, last);
		last = ns;
	}
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(knows_nothing_without_an_anchor),
	UNIT_TEST(has_an_offset_from_one_anchor),
	UNIT_TEST(draws_a_line_through_the_first_and_the_last),
	UNIT_TEST(uses_the_first_alone_when_the_clock_was_set),
	UNIT_TEST(takes_a_late_reading_for_no_clock_that_was_set),
	UNIT_TEST(refuses_impossible_times),
	UNIT_TEST(never_goes_back),
	{NULL},
};

UNIT_MAIN("device_clock", .set_up = begin, .tests = tests)
