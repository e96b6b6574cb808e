/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the plane of a machine's counters during a capture. */
#include "daemon/host/machine/machine_plane.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/machine_fixture.h"
#include "tests/unit/unit.h"
#include "trace/model/space.h"

static struct plane *plane;

static void tear_down(void)
{
	plane = plane_free(plane);
	machine_fixture_tear_down();
}

/*
 * Writes sample |i|: i GiB in use, 1000 × i bytes/s received since the one
 * before; one of two disks works.
 */
static void write_files(int i)
{
	static unsigned long received;
	char text[512];

	received = i ? received + 1000u * (unsigned)i : 0;
	snprintf(text, sizeof text, "MemTotal: 33554432 kB\nMemAvailable: %d kB\n",
		33554432 - (i << 20));
	fake_root_write("/proc/meminfo", text);
	snprintf(text, sizeof text, "eth0: %lu 0 0 0 0 0 0 0 0\n", received);
	fake_root_write("/proc/net/dev", text);
	snprintf(text, sizeof text,
		"8 0 sda 0 0 %d 0 0 0 0 0 0 0 0\n8 16 sdb 0 0 5 0 0 0 5 0 0 5 0\n", i);
	fake_root_write("/proc/diskstats", text);
	snprintf(text, sizeof text, "cpu %d 0 0 %d\ncpu0 %d 0 0 %d\nctxt 5\n", i, i, i, i);
	fake_root_write("/proc/stat", text);
}

/* Takes the samples 0 to 9. */
static void take_samples(void)
{
	fake_root_write("/sys/block/sda/device/x", "");
	fake_root_write("/sys/block/sdb/device/x", "");
	fake_root_write(
		"/proc/42/stat", "42 (x) S 1 1 1 0 -1 0 0 0 2 0 0 0 0 0 20 0 3 0 1 1 9 0\n");
	machine_fixture_add_program(1, 42, "train");
	write_files(0);
	machine_fixture_open(NULL);
	for (int i = 0; i < 10; i++) {
		write_files(i);
		machine_fixture_sample();
	}
}

static void make_plane(const struct machine_cut *cut)
{
	plane = plane_free(plane);
	ck_assert_int_eq(machine_plane(machine_fixture.machine, cut, &plane), 0);
	ck_assert_str_eq(plane->name, PLANE_MACHINE);
}

/* Returns the time |s| seconds after sample 0. Sample 9 is the last one. */
static int64_t moment_ns(double s)
{
	return machine_fixture.now_ns + (int64_t)((s - 9) * 1e9);
}

/* Makes the plane from |from_s| to |to_s|, counted from sample 0. */
static void cut(double from_s, double to_s, bool (*is_wanted)(const struct subject *, void *))
{
	const struct machine_cut c = {
		.start_ns = moment_ns(from_s),
		.stop_ns = moment_ns(to_s),
		.is_wanted = is_wanted,
	};

	make_plane(&c);
}

/* Makes the same plane right after the end of the capture. */
static void cut_at_once(double from_s, double to_s)
{
	const struct machine_cut c = {
		.start_ns = moment_ns(from_s),
		.stop_ns = moment_ns(to_s),
		.now_ns = moment_ns(to_s) + 1,
	};

	make_plane(&c);
}

static const struct line *find(const char *name)
{
	for (size_t i = 0; i < plane->n_lines; i++)
		if (strcmp(names_get(&plane->event_names, plane->lines[i].events[0].name), name) ==
			0)
			return &plane->lines[i];
	return NULL;
}

/* Expects "time value, time value", in ms since the start. */
static void expect(const char *name, const char *expected)
{
	const struct line *line = find(name);
	char text[512] = "";

	ck_assert_msg(line != NULL, "no %s", name);
	ck_assert_str_eq(line->name, LINE_COUNTERS);
	for (size_t i = 0; i < line->n_events; i++) {
		const struct trace_event *event = &line->events[i];
		size_t n = strlen(text);

		snprintf(text + n, sizeof text - n, "%s%.0f %g", i ? ", " : "",
			(double)event->start_ns / 1e6, plane_get_stats(plane, event)->value.f64);
	}
	ck_assert_str_eq(text, expected);
}

START_TEST(a_capture_has_a_sample_at_each_end)
{
	take_samples();
	cut(2.5, 4.25, NULL);
	expect("memory used bytes",
		"0 2.14748e+09, 500 3.22123e+09, 1500 4.29497e+09, 1750 5.36871e+09");
	expect("network eth0 received bytes/s", "0 3000, 500 4000, 1500 5000, 1750 5000");
}
END_TEST

START_TEST(a_short_capture_has_two_samples)
{
	take_samples();
	cut(6.25, 6.5, NULL);
	expect("memory used bytes", "0 6.44245e+09, 250 7.51619e+09");
	expect("network eth0 received bytes/s", "0 7000, 250 7000");
	expect("cpu busy %", "0 50, 250 50");
}
END_TEST

START_TEST(missing_samples_are_not_made_up)
{
	take_samples();
	cut(8.5, 12, NULL);
	expect("network eth0 received bytes/s", "0 9000, 500 9000");
	cut(-3, 0.5, NULL);
	expect("network eth0 received bytes/s", "3000 1000, 3500 1000");
	cut(20, 30, NULL);
	ck_assert_uint_eq(plane->n_lines, 0);
	cut(-30, -20, NULL);
	ck_assert_uint_eq(plane->n_lines, 0);
}
END_TEST

START_TEST(rates_of_named_subjects_are_shown_unless_0)
{
	take_samples();
	cut(2, 4, NULL);
	ck_assert_ptr_nonnull(find("disk sda read bytes/s"));
	ck_assert_ptr_null(find("disk sda written bytes/s"));
	ck_assert_ptr_null(find("disk sdb read bytes/s"));
	ck_assert_ptr_nonnull(find("machine context switches/s"));
	ck_assert_ptr_nonnull(find("core 0 busy %"));
	/* The history has these values, but the plane has no lines for them. */
	ck_assert_ptr_null(find("core 0 user %"));
	ck_assert_ptr_null(find("memory total bytes"));
}
END_TEST

static bool is_train(const struct subject *s, void *context)
{
	(void)context;
	return s->pid == 42;
}

START_TEST(programs_are_shown_where_they_are_wanted)
{
	take_samples();
	cut(2, 4, NULL);
	ck_assert_ptr_null(find("process train (42) threads"));
	cut(2.1, 3.9, is_train);
	expect("process train (42) threads", "0 3, 900 3, 1800 3");
	ck_assert_ptr_null(find("memory used bytes"));
}
END_TEST

START_TEST(usage_since_the_last_sample_is_read_at_once)
{
	take_samples();
	write_files(10);
	cut_at_once(8.5, 9.5);
	/* 10 kB came in half a second. */
	expect("network eth0 received bytes/s", "0 9000, 500 20000, 1000 20000");
	expect("memory used bytes", "0 8.58993e+09, 500 9.66368e+09, 1000 1.07374e+10");
	expect("machine context switches/s", "0 0, 500 0, 1000 0");
	expect("cpu busy %", "0 50, 500 50, 1000 50");
	/* If the files are read again, 1 kB more has come. */
	write_files(1);
	cut_at_once(9.25, 9.75);
	expect("network eth0 received bytes/s", "0 14666.7, 500 14666.7");
}
END_TEST

START_TEST(a_rate_is_of_a_quarter_of_a_second_at_least)
{
	take_samples();
	write_files(10);
	fake_root_write("/proc/stat", "cpu 10 0 0 9\ncpu0 9 0 0 9\nctxt 38\n");
	cut_at_once(9.05, 9.1);
	/* The second before is included: 19 kB came in 1.1 s. */
	expect("network eth0 received bytes/s", "0 17272.7, 50 17272.7");
	expect("machine context switches/s", "0 30, 50 30");
	/* Two ticks of three were busy, which is more exact than one of one. */
	expect("cpu busy %", "0 66.67, 50 66.67");
	cut_at_once(9.05, 9.3);
	expect("network eth0 received bytes/s", "0 33333.3, 250 33333.3");
	expect("cpu busy %", "0 100, 250 100");
}
END_TEST

START_TEST(rates_do_not_span_a_counter_that_went_back)
{
	take_samples();
	fake_root_write("/proc/net/dev", "eth0: 10 0 0 0 0 0 0 0 0\n");
	machine_fixture_sample();
	/* The counter was set back before, so its higher value now gives no rate. */
	fake_root_write("/proc/net/dev", "eth0: 100010 0 0 0 0 0 0 0 0\n");
	cut_at_once(9.05, 9.1);
	expect("network eth0 received bytes/s", "0 1e+06, 50 1e+06");
	fake_root_write("/proc/net/dev", "eth0: 5 0 0 0 0 0 0 0 0\n");
	cut_at_once(9.05, 9.5);
	ck_assert_ptr_null(find("network eth0 received bytes/s"));
}
END_TEST

START_TEST(extra_reading_does_not_change_the_samples)
{
	size_t n;

	take_samples();
	n = machine_fixture_count();
	write_files(10);
	fake_root_write("/sys/block/sdc/device/x", "");
	fake_root_write("/proc/diskstats", "8 32 sdc 0 0 5 0 0 0 5 0 0 5 0\n");
	for (int i = 0; i < 3; i++)
		cut_at_once(8.5, 9.5);
	ck_assert_uint_eq(machine_fixture_count(), n);
	ck_assert_double_eq(machine_fixture_get("network eth0 received"), 9000);
	ck_assert_double_eq(machine_fixture_get("memory used"), 9.0 * (1 << 30));
	/* The rates of sample 10 cover its whole second. */
	write_files(20);
	fake_root_write("/proc/stat", "cpu 11 0 0 11\ncpu0 9 0 0 9\nctxt 38\n");
	machine_fixture_sample();
	ck_assert_double_eq(machine_fixture_get("network eth0 received"), 30000);
	ck_assert_double_eq(machine_fixture_get("disk sda read"), 11 * 512);
	ck_assert_double_eq(machine_fixture_get("cpu busy"), 50);
	ck_assert_double_eq(machine_fixture_get("process train threads"), 3);
	/* For this plane no file must be read any more. */
	write_files(5);
	cut_at_once(7.5, 8.5);
	expect("network eth0 received bytes/s", "0 9000, 500 30000, 1000 30000");
}
END_TEST

START_TEST(without_samples_there_are_no_lines)
{
	machine_fixture_open(NULL);
	cut(0, 1, NULL);
	ck_assert_uint_eq(plane->n_lines, 0);
	cut_at_once(0, 1);
	ck_assert_uint_eq(plane->n_lines, 0);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(a_capture_has_a_sample_at_each_end),
	UNIT_TEST(a_short_capture_has_two_samples),
	UNIT_TEST(missing_samples_are_not_made_up),
	UNIT_TEST(rates_of_named_subjects_are_shown_unless_0),
	UNIT_TEST(programs_are_shown_where_they_are_wanted),
	UNIT_TEST(usage_since_the_last_sample_is_read_at_once),
	UNIT_TEST(a_rate_is_of_a_quarter_of_a_second_at_least),
	UNIT_TEST(rates_do_not_span_a_counter_that_went_back),
	UNIT_TEST(extra_reading_does_not_change_the_samples),
	UNIT_TEST(without_samples_there_are_no_lines),
	{NULL},
};

UNIT_MAIN("machine plane", .set_up = machine_fixture_set_up, .tear_down = tear_down, .tests = tests)
