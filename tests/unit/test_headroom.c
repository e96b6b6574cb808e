/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the memory that can still be allocated, with fake trees of both cgroup versions. */
#include "daemon/kernel/headroom.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/fake_root.h"
#include "tests/unit/unit.h"

static void expect(uint64_t bytes)
{
	ck_assert_uint_eq(headroom_read_bytes(fake_root), bytes);
}

static void set_available(const char *kib)
{
	char text[128] = "MemTotal:       900000 kB\nMemFree:            7 kB\nMemAvailable:   ";

	strcat(strcat(text, kib), " kB\nBuffers:  1 kB\n");
	fake_root_write("/proc/meminfo", text);
}

START_TEST(knows_nothing_of_an_empty_machine)
{
	expect(UINT64_MAX);
}
END_TEST

START_TEST(takes_the_available_memory_of_the_machine)
{
	set_available("1000");
	expect(1000 * 1024);
}
END_TEST

START_TEST(reads_the_cgroup_of_version_2)
{
	set_available("1000000");
	fake_root_write("/proc/self/cgroup", "0::/app/worker\n");
	fake_root_write("/sys/fs/cgroup/app/worker/memory.max", "5000000\n");
	fake_root_write("/sys/fs/cgroup/app/worker/memory.current", "1000000\n");
	expect(4000000);
	fake_root_write("/sys/fs/cgroup/app/worker/memory.max", "max\n");
	expect(UINT64_C(1000000) * 1024);
}
END_TEST

START_TEST(takes_the_least_of_all_groups_above)
{
	fake_root_write("/proc/self/cgroup", "0::/app/worker\n");
	fake_root_write("/sys/fs/cgroup/app/worker/memory.max", "5000000\n");
	fake_root_write("/sys/fs/cgroup/app/worker/memory.current", "1000000\n");
	fake_root_write("/sys/fs/cgroup/app/memory.max", "3000000\n");
	fake_root_write("/sys/fs/cgroup/app/memory.current", "2000000\n");
	expect(1000000);
	fake_root_write("/sys/fs/cgroup/memory.max", "900\n");
	fake_root_write("/sys/fs/cgroup/memory.current", "100\n");
	expect(800);
}
END_TEST

START_TEST(reads_the_root_group_of_a_container)
{
	fake_root_write("/proc/self/cgroup", "0::/\n");
	fake_root_write("/sys/fs/cgroup/memory.max", "7000\n");
	fake_root_write("/sys/fs/cgroup/memory.current", "3000\n");
	expect(4000);
}
END_TEST

START_TEST(reads_the_cgroup_of_version_1)
{
	set_available("1000000");
	fake_root_write("/proc/self/cgroup",
		"11:cpu,cpuacct:/app\n10:memory:/app/worker\n9:devices:/app\n0::/other\n");
	fake_root_write(
		"/sys/fs/cgroup/memory/app/worker/memory.limit_in_bytes", "9223372036854771712\n");
	fake_root_write("/sys/fs/cgroup/memory/app/worker/memory.usage_in_bytes", "77\n");
	expect(UINT64_C(1000000) * 1024);
	fake_root_write("/sys/fs/cgroup/memory/app/memory.limit_in_bytes", "600000\n");
	fake_root_write("/sys/fs/cgroup/memory/app/memory.usage_in_bytes", "200000\n");
	expect(400000);
}
END_TEST

/* Not counted as free: dirty pages (must be written first), half of the active ones (in use). */
START_TEST(cached_files_do_not_count_as_usage)
{
	fake_root_write("/proc/self/cgroup", "10:memory:/app\n0::/app\n");
	fake_root_write("/sys/fs/cgroup/app/memory.max", "5000\n");
	fake_root_write("/sys/fs/cgroup/app/memory.current", "4900\n");
	fake_root_write("/sys/fs/cgroup/app/memory.stat",
		"anon 1000\nfile_dirty 20\nfile_writeback 3\ninactive_file 2000\nactive_file 700\n");
	expect(100 + 2000 + 350 - 23);
	fake_root_write("/sys/fs/cgroup/memory/app/memory.limit_in_bytes", "6000\n");
	fake_root_write("/sys/fs/cgroup/memory/app/memory.usage_in_bytes", "5900\n");
	fake_root_write("/sys/fs/cgroup/memory/app/memory.stat",
		"inactive_file 7\ndirty 7\ntotal_dirty 10\ntotal_writeback 5\n"
		"total_inactive_file 1000\ntotal_active_file 60\n");
	expect(100 + 1000 + 30 - 15);
}
END_TEST

/* The kernel's numbers are not from the same instant. */
START_TEST(never_less_than_nothing_is_used)
{
	fake_root_write("/proc/self/cgroup", "0::/app\n");
	fake_root_write("/sys/fs/cgroup/app/memory.max", "5000\n");
	fake_root_write("/sys/fs/cgroup/app/memory.current", "1900\n");
	fake_root_write("/sys/fs/cgroup/app/memory.stat", "inactive_file 2000\n");
	expect(5000);
	fake_root_write("/sys/fs/cgroup/app/memory.stat", "file_dirty 2001\ninactive_file 2000\n");
	expect(3100);
}
END_TEST

START_TEST(has_nothing_left_over_the_limit)
{
	set_available("1000");
	fake_root_write("/proc/self/cgroup", "0::/app\n");
	fake_root_write("/sys/fs/cgroup/app/memory.max", "1000\n");
	fake_root_write("/sys/fs/cgroup/app/memory.current", "1001\n");
	expect(0);
}
END_TEST

/* headroom_take() returns the kept reading once, and only within HEADROOM_KEPT_NS. */
START_TEST(a_reading_is_kept_for_one_taker)
{
	struct headroom h = {0, 0};

	set_available("1000");
	ck_assert_uint_eq(headroom_take(&h, fake_root, 5), 1000 * 1024);
	ck_assert_uint_eq(headroom_read(&h, fake_root, 5), 1000 * 1024);
	set_available("2000");
	ck_assert_uint_eq(headroom_take(&h, fake_root, 5 + HEADROOM_KEPT_NS), 1000 * 1024);
	ck_assert_uint_eq(headroom_take(&h, fake_root, 5 + HEADROOM_KEPT_NS), 2000 * 1024);
	ck_assert_uint_eq(headroom_read(&h, fake_root, 5), 2000 * 1024);
	set_available("3000");
	ck_assert_uint_eq(headroom_take(&h, fake_root, 6 + HEADROOM_KEPT_NS), 3000 * 1024);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(knows_nothing_of_an_empty_machine),
	UNIT_TEST(takes_the_available_memory_of_the_machine),
	UNIT_TEST(reads_the_cgroup_of_version_2),
	UNIT_TEST(takes_the_least_of_all_groups_above),
	UNIT_TEST(reads_the_root_group_of_a_container),
	UNIT_TEST(reads_the_cgroup_of_version_1),
	UNIT_TEST(cached_files_do_not_count_as_usage),
	UNIT_TEST(never_less_than_nothing_is_used),
	UNIT_TEST(has_nothing_left_over_the_limit),
	UNIT_TEST(a_reading_is_kept_for_one_taker),
	{NULL},
};

UNIT_MAIN("headroom", .set_up = fake_root_make, .tear_down = fake_root_remove, .tests = tests)
