/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests timelines with clocks that are slewed, jump, are set back or change their pace: the
 * converted times, and the warning about the clock.
 */
#include "daemon/target/timeline.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/timeline_fixture.h"
#include "tests/unit/unit.h"

#define PAIR_NS INT64_C(20000000)
#define TICKS_PER_NS 2.6
/* Upper bound of the time between the two readings of a pair. */
#define WIDTH_NS 300
#define MAX_ERROR_NS 1000

/* NTP slews by up to 500 ppm. Here the rate swings by that, with a period of two minutes. */
static int64_t slewed_ns(double seconds)
{
	return swing_ns(seconds, 0.0005, 120);
}

static uint64_t ticks_at(double seconds)
{
	return (UINT64_C(1) << 40) + (uint64_t)(seconds * 1e9 * TICKS_PER_NS);
}

/* Adds a pair for |seconds|. As in the server, its clocks are not read at quite the same time. */
static void add_read(double seconds)
{
	add_pair(ticks_at(seconds), slewed_ns(seconds) + rand() % WIDTH_NS - WIDTH_NS / 2);
}

static int64_t error_at(double seconds)
{
	return timeline_convert(&timeline, ticks_at(seconds)) -
	       (slewed_ns(seconds) - timeline.pairs[0].monotonic_ns);
}

START_TEST(ten_minutes_are_right_to_a_microsecond)
{
	int64_t before = INT64_MIN;

	srand(11);
	for (int i = 0; i <= 30000; i++)
		add_read(i * 0.02);
	for (double s = 0; s < 600; s += 0.00317) {
		int64_t now = timeline_convert(&timeline, ticks_at(s));

		ck_assert_msg(llabs(error_at(s)) < MAX_ERROR_NS, "%lld ns wrong after %g s",
			(long long)error_at(s), s);
		ck_assert_msg(now >= before, "back after %g s", s);
		before = now;
	}
}
END_TEST

/*
 * The machine was suspended, or moved to another host: its counter advanced, by 2^20 or 2^43
 * ticks, while CLOCK_MONOTONIC stood still.
 */
START_TEST(a_jump_is_wrong_only_where_it_was)
{
	const int64_t jump_ticks = _i ? INT64_C(1) << 43 : INT64_C(1) << 20;
	int64_t before = INT64_MIN;

	for (int i = 0; i <= 1000; i++)
		add_pair(ticks_at(i * 0.02) + (i > 500 ? (uint64_t)jump_ticks : 0),
			(int64_t)(i * PAIR_NS));
	for (double s = 0; s < 20; s += 0.0017) {
		bool is_behind = s > 10.01;
		int64_t now = timeline_convert(
			&timeline, ticks_at(s) + (is_behind ? (uint64_t)jump_ticks : 0));
		int64_t error_ns = now - (int64_t)(s * 1e9);

		ck_assert_int_ge(now, before);
		before = now;
		if (s > 10 && s < 10.02)
			ck_assert_int_le(llabs(error_ns), PAIR_NS);
		else
			ck_assert_int_le(llabs(error_ns), MAX_ERROR_NS);
	}
}
END_TEST

/*
 * The counter was set back. Later pairs are dropped, because a timeline needs ascending ticks.
 * Times before the jump stay right.
 */
START_TEST(a_counter_that_is_set_back_spoils_nothing_before)
{
	const uint64_t back_ticks = UINT64_C(1) << 36; /* half a minute */

	for (int i = 0; i <= 1000; i++)
		add_pair(ticks_at(i * 0.02) - (i > 500 ? back_ticks : 0), (int64_t)(i * PAIR_NS));
	ck_assert_uint_eq(timeline.n_pairs, 501);
	for (double s = 0; s < 10; s += 0.0017) {
		int64_t now = timeline_convert(&timeline, ticks_at(s));

		ck_assert_int_le(llabs(now - (int64_t)(s * 1e9)), MAX_ERROR_NS);
	}
}
END_TEST

/* Adds |n| + 1 pairs, one per 20 ms, with the ticks of |ticks|. Returns the warning, or "". */
static const char *watch_pairs(int n, uint64_t (*ticks)(double), int64_t from_ns)
{
	static char text[160];

	srand(13);
	for (int i = 0; i <= n; i++) {
		double seconds = i * 0.02;

		add_pair(ticks(seconds),
			(int64_t)(seconds * 1e9) + rand() % WIDTH_NS - WIDTH_NS / 2);
	}
	clock_watch_describe(&timeline.watch, from_ns, text, sizeof text);
	return text;
}

/* After 3 s the counter is faster by |ppm|, or slower if |ppm| is negative. */
static uint64_t change_pace(double seconds, int ppm)
{
	return ticks_at(seconds + (seconds > 3 ? (seconds - 3) * ppm / 1e6 : 0));
}

static uint64_t slewed_forth_ticks(double seconds)
{
	return change_pace(seconds, 900);
}

static uint64_t slewed_back_ticks(double seconds)
{
	return change_pace(seconds, -900);
}

static uint64_t faster_ticks(double seconds)
{
	return change_pace(seconds, 1300);
}

static uint64_t slower_ticks(double seconds)
{
	return change_pace(seconds, -1300);
}

static uint64_t jumping_ticks(double seconds)
{
	return ticks_at(seconds + (seconds > 3.01 ? 0.0005 : 0));
}

static uint64_t early_jumping_ticks(double seconds)
{
	return ticks_at(seconds + (seconds > 0.03 ? 0.1 : 0));
}

static uint64_t ticks_set_back(double seconds)
{
	return ticks_at(seconds - (seconds > 3.01 ? 1 : 0));
}

static uint64_t ticks_set_to_zero(double seconds)
{
	return ticks_at(seconds) - (seconds > 3.01 ? ticks_at(3) : 0);
}

#define OFF_PACE                                                                                           \
	"the processor's counter left the pace of CLOCK_MONOTONIC %d ms into the recording: times may be " \
	"wrong from there on"
#define SET_BACK \
	"the processor's counter was set back %d ms into the recording: later times are wrong"

static const struct {
	uint64_t (*ticks)(double);
	const char *said; /* the warning, as a format for its time in ms, or "" */
	int first_ms;
	int last_ms;
} paces[] = {
	{ticks_at, "", 0, 0},
	{slewed_forth_ticks, "", 0, 0},
	{slewed_back_ticks, "", 0, 0},
	{faster_ticks, OFF_PACE, 3000, 3200},
	{slower_ticks, OFF_PACE, 3000, 3200},
	{jumping_ticks, OFF_PACE, 3010, 3030},
	{early_jumping_ticks, OFF_PACE, 30, 220},
	{ticks_set_back, SET_BACK, 3010, 3030},
	{ticks_set_to_zero, SET_BACK, 3010, 3030},
};

START_TEST(a_counter_that_is_out_of_pace_is_reported)
{
	const char *said = watch_pairs(1000, paces[_i].ticks, 0);
	int at_ms = -1;
	char expected[160];

	sscanf(said, "%*[^0-9]%d", &at_ms);
	snprintf(expected, sizeof expected, paces[_i].said, at_ms);
	ck_assert_str_eq(said, expected);
	if (paces[_i].said[0]) {
		ck_assert_int_ge(at_ms, paces[_i].first_ms);
		ck_assert_int_le(at_ms, paces[_i].last_ms);
	}
}
END_TEST

/*
 * The counter is set back by 1 s at 3.01 s, and is as high as before at 4.01 s. A part of the
 * session that begins later has no warning. A copy of the timeline gives the same answers.
 */
START_TEST(fault_before_the_window_is_not_repeated)
{
	struct timeline part;
	char text[160];

	ck_assert_str_ne(watch_pairs(1000, ticks_set_back, INT64_C(3900000000)), "");
	ck_assert_int_eq(timeline_copy(&timeline, &part), 0);
	clock_watch_describe(&part.watch, INT64_C(3900000000), text, sizeof text);
	ck_assert_str_ne(text, "");
	clock_watch_describe(&part.watch, INT64_C(4100000000), text, sizeof text);
	ck_assert_str_eq(text, "");
	timeline_deinit(&part);
}
END_TEST

/* Without ticks there is no counter that could be wrong: times are CLOCK_MONOTONIC already. */
START_TEST(a_clock_without_ticks_is_not_watched)
{
	char text[160];

	timeline_fixture_reopen_without_ticks();
	for (int i = 0; i < 100; i++)
		add_pair(1000, 1000 + i * PAIR_NS);
	clock_watch_describe(&timeline.watch, 0, text, sizeof text);
	ck_assert_str_eq(text, "");
}
END_TEST

/* Whatever the counter did, a record with more ticks never has an earlier time. */
START_TEST(more_ticks_are_never_an_earlier_time)
{
	int64_t before = INT64_MIN;

	watch_pairs(1000, paces[_i].ticks, 0);
	for (uint64_t at = 0; at < ticks_at(25); at += ticks_at(25) / 100000) {
		int64_t now = timeline_convert(&timeline, at);

		ck_assert_int_ge(now, before);
		before = now;
	}
}
END_TEST

/*
 * If the counters of the cores differ by some ticks, the times of a thread that moves between
 * cores are wrong by no more than that difference.
 */
START_TEST(cores_that_differ_are_wrong_by_their_difference)
{
	static const int64_t offsets[] = {0, 40, -40, 90};

	for (int i = 0; i <= 500; i++)
		add_pair(ticks_at(i * 0.02) + (uint64_t)offsets[i % 4], (int64_t)(i * PAIR_NS));
	for (int i = 0; i < 4000; i++) {
		double s = i * 0.0025;
		int64_t now = timeline_convert(&timeline, ticks_at(s) + (uint64_t)offsets[i % 4]);

		ck_assert_int_le(llabs(now - (int64_t)(s * 1e9)), 2 * 130);
	}
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(ten_minutes_are_right_to_a_microsecond),
	UNIT_LOOP(a_jump_is_wrong_only_where_it_was, 2),
	UNIT_TEST(a_counter_that_is_set_back_spoils_nothing_before),
	UNIT_LOOP(a_counter_that_is_out_of_pace_is_reported, sizeof paces / sizeof *paces),
	UNIT_TEST(fault_before_the_window_is_not_repeated),
	UNIT_TEST(a_clock_without_ticks_is_not_watched),
	UNIT_LOOP(more_ticks_are_never_an_earlier_time, sizeof paces / sizeof *paces),
	UNIT_TEST(cores_that_differ_are_wrong_by_their_difference),
	{NULL},
};

UNIT_MAIN("clock_faults", .set_up = timeline_fixture_open, .tear_down = timeline_fixture_close,
	.tests = tests)
