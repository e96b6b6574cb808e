/* SPDX-License-Identifier: Apache-2.0 */
/* What a machine used during a capture, as counters. */
#include "daemon/machine/machine_plane.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/machine_fixture.h"
#include "trace/space.h"

static struct plane *plane;

static void tear_down(void)
{
	plane = plane_free(plane);
	machine_fixture_tear_down();
}

/* Sample |i|: i GiB in use, 1000 × i bytes/s received since the one before; one of two disks works. */
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

/* Ten samples, 0 to 9. */
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

/* From |from_s| to |to_s|, counted from sample 0. */
static void cut(double from_s, double to_s, int (*is_wanted)(const struct subject *, void *))
{
	int64_t zero_ns = machine_fixture.now_ns - 9 * NS_PER_S;
	const struct machine_cut c = {
		.start_ns = zero_ns + (int64_t)(from_s * 1e9),
		.stop_ns = zero_ns + (int64_t)(to_s * 1e9),
		.is_wanted = is_wanted,
	};

	ck_assert_int_eq(machine_plane(machine_fixture.machine, &c, &plane), 0);
	ck_assert_str_eq(plane->name, PLANE_MACHINE);
}

static const struct line *find(const char *name)
{
	for (size_t i = 0; i < plane->n_lines; i++)
		if (strcmp(names_get(&plane->event_names, plane->lines[i].events[0].name), name) ==
			0)
			return &plane->lines[i];
	return NULL;
}

/* "time value, time value", in ms since the start. */
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

START_TEST(a_short_capture_has_both)
{
	take_samples();
	cut(6.25, 6.5, NULL);
	expect("memory used bytes", "0 6.44245e+09, 250 7.51619e+09");
	expect("network eth0 received bytes/s", "0 7000, 250 7000");
	expect("cpu busy %", "0 50, 250 50");
}
END_TEST

START_TEST(what_is_not_known_yet_is_not_made_up)
{
	take_samples();
	cut(8.5, 12, NULL);
	expect("network eth0 received bytes/s", "0 9000, 500 9000");
	plane = plane_free(plane);
	cut(-3, 0.5, NULL);
	expect("network eth0 received bytes/s", "3000 1000, 3500 1000");
	plane = plane_free(plane);
	cut(20, 30, NULL);
	ck_assert_uint_eq(plane->n_lines, 0);
	plane = plane_free(plane);
	cut(-30, -20, NULL);
	ck_assert_uint_eq(plane->n_lines, 0);
}
END_TEST

START_TEST(only_what_moves_is_shown_of_several)
{
	take_samples();
	cut(2, 4, NULL);
	ck_assert_ptr_nonnull(find("disk sda read bytes/s"));
	ck_assert_ptr_null(find("disk sda written bytes/s"));
	ck_assert_ptr_null(find("disk sdb read bytes/s"));
	ck_assert_ptr_nonnull(find("machine context switches/s"));
	ck_assert_ptr_nonnull(find("core 0 busy %"));
	/* Columns for those who ask, but no lines of their own. */
	ck_assert_ptr_null(find("core 0 user %"));
	ck_assert_ptr_null(find("memory total bytes"));
}
END_TEST

static int is_train(const struct subject *s, void *context)
{
	(void)context;
	return s->pid == 42;
}

START_TEST(programs_are_shown_where_they_are_wanted)
{
	take_samples();
	cut(2, 4, NULL);
	ck_assert_ptr_null(find("process train (42) threads"));
	plane = plane_free(plane);
	cut(2.1, 3.9, is_train);
	expect("process train (42) threads", "0 3, 900 3, 1800 3");
	ck_assert_ptr_null(find("memory used bytes"));
}
END_TEST

START_TEST(without_samples_there_are_no_lines)
{
	machine_fixture_open(NULL);
	cut(0, 1, NULL);
	ck_assert_uint_eq(plane->n_lines, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("machine plane");
	TCase *tests = tcase_create("machine plane");
	SRunner *runner = srunner_create(suite);

	tcase_add_checked_fixture(tests, machine_fixture_set_up, tear_down);
	tcase_add_test(tests, a_capture_has_a_sample_at_each_end);
	tcase_add_test(tests, a_short_capture_has_both);
	tcase_add_test(tests, what_is_not_known_yet_is_not_made_up);
	tcase_add_test(tests, only_what_moves_is_shown_of_several);
	tcase_add_test(tests, programs_are_shown_where_they_are_wanted);
	tcase_add_test(tests, without_samples_there_are_no_lines);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
