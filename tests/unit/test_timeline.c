/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the conversion of ticks to nanoseconds, with made-up pairs of clock readings, and the
 * choice of the clock, with a fake root.
 */
#include "daemon/target/timeline.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/timeline_fixture.h"
#include "tests/unit/unit.h"

START_TEST(converts_exactly_between_pairs)
{
	add_pair(1000000, 5000);
	add_pair(1004000, 6000); /* 4 ticks a nanosecond */
	ck_assert_int_eq(timeline_convert(&timeline, 1000000), 0);
	ck_assert_int_eq(timeline_convert(&timeline, 1000004), 1);
	ck_assert_int_eq(timeline_convert(&timeline, 1000007), 1);
	ck_assert_int_eq(timeline_convert(&timeline, 1002000), 500);
	ck_assert_int_eq(timeline_convert(&timeline, 1004000), 1000);
}
END_TEST

START_TEST(follows_a_slewed_clock)
{
	add_pair(0, 0);
	add_pair(1000, 1000);
	add_pair(2000, 3000);
	add_pair(3000, 3500);
	ck_assert_int_eq(timeline_convert(&timeline, 500), 500);
	ck_assert_int_eq(timeline_convert(&timeline, 2000), 3000);
	ck_assert_int_eq(timeline_convert(&timeline, 1500), 2000);
	ck_assert_int_eq(timeline_convert(&timeline, 2500), 3250);
	/* Earlier ticks after later ones must not use the cached segment. */
	ck_assert_int_eq(timeline_convert(&timeline, 1001), 1002);
	ck_assert_int_eq(timeline_convert(&timeline, 1), 1);
}
END_TEST

START_TEST(extrapolates_beyond_both_ends)
{
	add_pair(10000, 100);
	add_pair(20000, 200);
	add_pair(30000, 400);
	ck_assert_int_eq(timeline_convert(&timeline, 0), -100);
	ck_assert_int_eq(timeline_convert(&timeline, 9999), -1);
	ck_assert_int_eq(timeline_convert(&timeline, 40000), 500);
	ck_assert_int_eq(timeline_convert(&timeline, 130000), 2300);
}
END_TEST

START_TEST(ignores_pairs_that_do_not_advance)
{
	add_pair(1000, 1000);
	add_pair(2000, 2000);
	add_pair(2000, 2500);
	add_pair(1500, 2500);
	add_pair(2500, 2000);
	ck_assert_uint_eq(timeline.n_pairs, 2);
	ck_assert_int_eq(timeline_convert(&timeline, 3000), 2000);
}
END_TEST

START_TEST(uses_a_pair_added_after_a_conversion)
{
	add_pair(0, 0);
	add_pair(1000, 1000);
	ck_assert_int_eq(timeline_convert(&timeline, 2000), 2000);
	add_pair(2000, 4000);
	ck_assert_int_eq(timeline_convert(&timeline, 2000), 4000);
	ck_assert_int_eq(timeline_convert(&timeline, 1500), 2500);
}
END_TEST

START_TEST(never_runs_backwards)
{
	uint64_t ticks = 1u << 20;
	int64_t ns = 12345;
	int64_t before;

	srand(7);
	/* A server takes pairs every 20 ms, at about 2.6 GHz, with noise. */
	for (int i = 0; i < 200; i++) {
		add_pair(ticks, ns);
		ticks += 52000000u + (unsigned)rand() % 5000;
		ns += 20000000 + rand() % 2000;
	}
	before = timeline_convert(&timeline, 0);
	for (uint64_t at = 0; at < ticks + 1000000; at += 1 + (unsigned)rand() % 200000) {
		int64_t now = timeline_convert(&timeline, at);

		ck_assert_int_ge(now, before);
		before = now;
	}
	for (size_t i = 0; i < timeline.n_pairs; i++) {
		const struct clock_pair *p = &timeline.pairs[i];

		ck_assert_int_eq(timeline_convert(&timeline, p->ticks), p->monotonic_ns - 12345);
		ck_assert_int_le(timeline_convert(&timeline, p->ticks - 1),
			timeline_convert(&timeline, p->ticks));
	}
}
END_TEST

START_TEST(takes_nanoseconds_as_they_are)
{
	timeline_fixture_reopen_without_ticks();
	add_pair(5000, 5000);
	ck_assert_int_eq(timeline_convert(&timeline, 5000), 0);
	ck_assert_int_eq(timeline_convert(&timeline, 7321), 2321);
	ck_assert_int_eq(timeline_convert(&timeline, 4000), -1000);
}
END_TEST

/* The program's nanoseconds are those of another clock of the same rate. */
START_TEST(takes_nanoseconds_of_another_clock)
{
	timeline_fixture_reopen_without_ticks();
	add_pair(5000, 900);
	ck_assert_int_eq(timeline_convert(&timeline, 7321), 2321);
	ck_assert_int_eq(timeline_convert(&timeline, 4000), -1000);
	timeline_begin_at(&timeline, 0);
	add_pair(9000, 4900);
	timeline_begin_at(&timeline, 321);
	ck_assert_int_eq(timeline.pairs[0].monotonic_ns, 1221);
	ck_assert_int_eq(timeline_convert(&timeline, 7321), 2000);
}
END_TEST

START_TEST(reads_the_programs_clock)
{
	struct clock_pair pair;

	clock_pair_set_ahead(-1000000);
	pair = clock_pair_read(0);
	clock_pair_set_ahead(0);
	ck_assert_int_eq((int64_t)pair.ticks - pair.monotonic_ns, -1000000);
}
END_TEST

START_TEST(reads_both_clocks)
{
	struct clock_pair a = clock_pair_read(0);
	struct clock_pair b = clock_pair_read(0);

	ck_assert_uint_eq(a.ticks, (uint64_t)a.monotonic_ns);
	ck_assert_int_ge(b.monotonic_ns, a.monotonic_ns);
#if TICKS_ARE_READABLE
	a = clock_pair_read(1);
	b = clock_pair_read(1);
	ck_assert_uint_gt(b.ticks, a.ticks);
	ck_assert_int_gt(b.monotonic_ns, a.monotonic_ns);
#endif
}
END_TEST

#if defined(__x86_64__)
static const char clock_source[] =
	"/sys/devices/system/clocksource/clocksource0/current_clocksource";

START_TEST(trusts_ticks_that_the_kernel_uses)
{
	fake_root_write(clock_source, "tsc\n");
	ck_assert_int_eq(timeline_ticks_are_usable(fake_root), 1);
	fake_root_write(clock_source, "hpet\n");
	ck_assert_int_eq(timeline_ticks_are_usable(fake_root), 0);
	fake_root_write(clock_source, "acpi_pm\n");
	ck_assert_int_eq(timeline_ticks_are_usable(fake_root), 0);
}
END_TEST

START_TEST(trusts_virtual_clocks_only_over_an_invariant_counter)
{
	static const char *const virtual[] = {"kvm-clock\n", "hyperv_clocksource_tsc_page\n"};

	for (int i = 0; i < 2; i++) {
		fake_root_write(clock_source, virtual[i]);
		fake_root_write("/proc/cpuinfo", "flags : fpu constant_tsc sse\n");
		ck_assert_int_eq(timeline_ticks_are_usable(fake_root), 0);
		fake_root_write("/proc/cpuinfo", "flags : fpu nonstop_tsc sse\n");
		ck_assert_int_eq(timeline_ticks_are_usable(fake_root), 0);
	}
}
END_TEST

START_TEST(trusts_no_ticks_of_an_unknown_machine)
{
	ck_assert_int_eq(timeline_ticks_are_usable(fake_root), 0);
}
END_TEST
#endif

/* The rate swings by 1/1000 within ten minutes. Returns the ns at the tick. */
static int64_t swinging_ns(uint64_t ticks)
{
	return swing_ns((double)ticks / 1e9, 0.001, 600);
}

/* Adds a pair for each 20 ms. */
static void add_hours(struct timeline *t, uint64_t hours, uint64_t *last_ticks)
{
	for (uint64_t i = 0; i < hours * 180000; i++) {
		*last_ticks = i * 20000000;
		ck_assert_int_eq(
			timeline_add(t, (struct clock_pair){*last_ticks, swinging_ns(*last_ticks)}),
			0);
		ck_assert_uint_le(t->n_pairs, TIMELINE_MAX_PAIRS);
	}
}

START_TEST(a_capture_of_hours_stays_small_and_right_all_over)
{
	struct timeline t;
	uint64_t last = 0;

	timeline_init(&t, 1);
	add_hours(&t, 6, &last);
	ck_assert_uint_gt(t.n_pairs, TIMELINE_MAX_PAIRS / 4);
	for (uint64_t at = 12345678; at < last; at += 997000000) {
		int64_t error_ns = timeline_convert(&t, at) - swinging_ns(at);

		ck_assert_msg(llabs(error_ns) < 2000, "%lld ns wrong after %llu s",
			(long long)error_ns, (unsigned long long)(at / 1000000000));
	}
	ck_assert_int_eq(timeline_convert(&t, last), swinging_ns(last));
	timeline_deinit(&t);
}
END_TEST

START_TEST(a_recording_of_days_keeps_the_newer_pairs_close)
{
	struct timeline t;
	uint64_t ticks = 0;

	timeline_init(&t, 1);
	for (uint64_t s = 0; s < 7 * 86400; s++) {
		ticks = s * 1000000000;
		ck_assert_int_eq(
			timeline_add(&t, (struct clock_pair){ticks, swinging_ns(ticks)}), 0);
		timeline_limit(&t, 256);
		ck_assert_uint_le(t.n_pairs, 256);
	}
	ck_assert_uint_eq(t.pairs[0].ticks, 0);
	ck_assert_uint_eq(t.pairs[t.n_pairs - 1].ticks, ticks);
	for (size_t i = t.n_pairs - 64; i < t.n_pairs; i++)
		ck_assert_uint_eq(t.pairs[i].ticks - t.pairs[i - 1].ticks, 1000000000);
	for (size_t i = 2; i < t.n_pairs; i++)
		ck_assert_uint_le(t.pairs[i].ticks - t.pairs[i - 1].ticks,
			t.pairs[i - 1].ticks - t.pairs[0].ticks);
	timeline_deinit(&t);
}
END_TEST

static const struct unit_test tcase_tests[] = {
	UNIT_TEST(converts_exactly_between_pairs),
	UNIT_TEST(follows_a_slewed_clock),
	UNIT_TEST(extrapolates_beyond_both_ends),
	UNIT_TEST(ignores_pairs_that_do_not_advance),
	UNIT_TEST(uses_a_pair_added_after_a_conversion),
	UNIT_TEST(never_runs_backwards),
	UNIT_TEST(a_capture_of_hours_stays_small_and_right_all_over),
	UNIT_TEST(a_recording_of_days_keeps_the_newer_pairs_close),
	UNIT_TEST(takes_nanoseconds_as_they_are),
	UNIT_TEST(takes_nanoseconds_of_another_clock),
	UNIT_TEST(reads_the_programs_clock),
	UNIT_TEST(reads_both_clocks),
	{NULL},
};

static const struct unit_test choice_tests[] = {
#if defined(__x86_64__)
	UNIT_TEST(trusts_ticks_that_the_kernel_uses),
	UNIT_TEST(trusts_virtual_clocks_only_over_an_invariant_counter),
	UNIT_TEST(trusts_no_ticks_of_an_unknown_machine),
#endif
	{NULL},
};

static const struct unit cases[] = {
	{"conversion", .set_up = timeline_fixture_open, .tear_down = timeline_fixture_close,
		.tests = tcase_tests},
	{"choice of the clock", .set_up = fake_root_make, .tear_down = fake_root_remove,
		.tests = choice_tests},
	{NULL},
};

UNIT_MAIN_OF("timeline", cases)
