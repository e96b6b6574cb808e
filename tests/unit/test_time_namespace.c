/* SPDX-License-Identifier: Apache-2.0 */
/* Tests reading from /proc how far the clocks of a time namespace are ahead. */
#include "daemon/kernel/time_namespace.h"

#include <check.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/unit.h"

#define OFFSETS "/proc/7/timens_offsets"

static const struct {
	const char *text; /* in the kernel's form, and in others */
	int64_t ahead_ns;
} rows[] = {
	{"monotonic           0         0\nboottime            0         0\n", 0},
	{"monotonic      100000         0\nboottime            0         0\n", 100000 * NS_PER_S},
	{"monotonic          -2 500000000\nboottime           -9         0\n", -3 * NS_PER_S / 2},
	{"monotonic           0         1\nboottime            0         0\n", 1},
	{"", 0},
	{"boottime            7         0\n", 0},
	{"monotonic           7\n", 0},
	{"monotonic 9223372036854775807 0\n", 0},
	{"monotonic -9223372036854775807 0\n", 0},
	{"monotonic           7 1000000000\n", 0},
	{"monotonic           7         -1\n", 0},
};

START_TEST(reads_the_offset_from_the_kernels_file)
{
	fake_root_write(OFFSETS, rows[_i].text);
	ck_assert_int_eq(time_namespace_find_ahead_ns(fake_root, 7), rows[_i].ahead_ns);
}
END_TEST

START_TEST(an_absent_process_has_no_offset)
{
	ck_assert_int_eq(time_namespace_find_ahead_ns(fake_root, 7), 0);
}
END_TEST

START_TEST(offsets_for_children_do_not_count)
{
	fake_root_write(OFFSETS, "monotonic 5 0\n");
	fake_root_link("/proc/7/ns/time", "time:[4026531834]");
	fake_root_link("/proc/7/ns/time_for_children", "time:[4026531834]");
	ck_assert_int_eq(time_namespace_find_ahead_ns(fake_root, 7), 5 * NS_PER_S);
	fake_root_link("/proc/7/ns/time_for_children", "time:[4026532000]");
	ck_assert_int_eq(time_namespace_find_ahead_ns(fake_root, 7), 0);
}
END_TEST

START_TEST(this_process_is_known_by_no_number)
{
	ck_assert_int_eq(
		time_namespace_find_ahead_ns("", 0), time_namespace_find_ahead_ns("", getpid()));
	fake_root_write("/proc/self/timens_offsets", "monotonic 5 0\n");
	ck_assert_int_eq(time_namespace_find_ahead_ns(fake_root, 0), 5 * NS_PER_S);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_LOOP(reads_the_offset_from_the_kernels_file, sizeof rows / sizeof *rows),
	UNIT_TEST(an_absent_process_has_no_offset),
	UNIT_TEST(offsets_for_children_do_not_count),
	UNIT_TEST(this_process_is_known_by_no_number),
	{NULL},
};

UNIT_MAIN(
	"time namespaces", .set_up = fake_root_make, .tear_down = fake_root_remove, .tests = tests)
