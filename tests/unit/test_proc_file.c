/* SPDX-License-Identifier: Apache-2.0 */
/* Tests files of /proc, with the kernel's content, and with content that no kernel should write. */
#include "daemon/kernel/proc_file.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/fake_root.h"
#include "tests/unit/unit.h"

#define STAT_TAIL                                                                          \
	" S 1 4242 4242 0 -1 4194560 1500 7 3 9 250 50 1 2 20 0 12 0 8812 104857600 2560 " \
	"18446744073709551615 1 1 0 0 0 0 0 4096 1260 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n"

static void expect_stat(const char *name)
{
	struct proc_stat s = {0};
	char text[512] = "4242 (";

	strcat(strcat(strcat(text, name), ")"), STAT_TAIL);
	ck_assert_msg(proc_stat_parse(text, &s) == 0, "%s", text);
	ck_assert_int_eq(s.state, 'S');
	ck_assert_uint_eq(s.minor_faults, 1500);
	ck_assert_uint_eq(s.major_faults, 3);
	ck_assert_uint_eq(s.cpu_ticks, 300);
	ck_assert_uint_eq(s.n_threads, 12);
	ck_assert_uint_eq(s.start_ticks, 8812);
	ck_assert_uint_eq(s.rss_pages, 2560);
}

START_TEST(reads_stat_whatever_the_name)
{
	expect_stat("server");
	expect_stat("");
	expect_stat("web server");
	expect_stat(") R 1 2 3 (");
	expect_stat("a) S 9 9 9 9 9 9 9");
	expect_stat("((((");
	expect_stat("two\nlines");
	expect_stat("\xff\xfe");
}
END_TEST

START_TEST(refuses_malformed_stat_lines)
{
	static const char *const texts[] = {"", "4242", "4242 (server", "4242 (server)",
		"4242 (server) S", "4242 (server) S 1 2 3 4 5 6 7 8 9 10 11", ")", "()()()",
		"4242 (server) S 1 1 1 0 -1 0 x 7 3 9 250 50 1 2 20 0 12 0 8812 1 2560"};
	struct proc_stat s = {.n_threads = 77};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		ck_assert_msg(proc_stat_parse(texts[i], &s) == -EINVAL, "%s", texts[i]);
	ck_assert_uint_eq(s.n_threads, 77);
}
END_TEST

START_TEST(resident_pages_are_those_that_the_kernel_counts)
{
	const struct proc_stat stat = {.rss_pages = 7};
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	uint64_t before;
	uint64_t after;
	uint64_t told;
	char text[4096];

	ck_assert_uint_eq(proc_rss_read(-1, &stat), 7);
	memset(text, 0, sizeof text);
	before = proc_rss_read(fd, &stat);
	ck_assert_int_eq(proc_file_read(AT_FDCWD, "/proc/self/status", text, sizeof text), 0);
	after = proc_rss_read(fd, &stat);
	told = strtoul(strstr(text, "VmRSS:") + 6, NULL, 10) * 1024 /
	       (uint64_t)sysconf(_SC_PAGESIZE);
	ck_assert_uint_le(before, told);
	ck_assert_uint_le(told, after);
	close(fd);
}
END_TEST

START_TEST(reads_io)
{
	struct proc_io io = {0};

	ck_assert_int_eq(proc_io_parse("rchar: 4292\nwchar: 18446744073709551615\nsyscr: 13\n"
				       "syscw: 2\nread_bytes: 4096\nwrite_bytes: 8192\n"
				       "cancelled_write_bytes: 1\n",
				 &io),
		0);
	ck_assert_uint_eq(io.read_bytes, 4292);
	ck_assert_uint_eq(io.written_bytes, UINT64_MAX);
	ck_assert_uint_eq(io.disk_read_bytes, 4096);
	ck_assert_uint_eq(io.disk_written_bytes, 8192);
	ck_assert_int_eq(proc_io_parse("", &io), -EINVAL);
	ck_assert_int_eq(proc_io_parse("rchar: 1\nwchar: 2\n", &io), -EINVAL);
	ck_assert_int_eq(proc_io_parse("wchar: 2\nrchar: 1\nsyscr: 13\n", &io), -EINVAL);
	ck_assert_uint_eq(io.read_bytes, 4292);
}
END_TEST

START_TEST(reads_schedstat)
{
	struct proc_schedstat s = {0};

	ck_assert_int_eq(proc_schedstat_parse("81237281 22 31\n", &s), 0);
	ck_assert_uint_eq(s.run_ns, 81237281);
	ck_assert_uint_eq(s.wait_ns, 22);
	ck_assert_uint_eq(s.n_switches, 31);
	ck_assert_int_eq(proc_schedstat_parse("81237281 22", &s), -EINVAL);
	ck_assert_int_eq(proc_schedstat_parse("no 2 3", &s), -EINVAL);
}
END_TEST

START_TEST(reads_a_file_up_to_the_buffer)
{
	char text[5];
	int dir;

	fake_root_write("/proc/7/comm", "a long name\n");
	dir = open(fake_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_eq(proc_file_read(dir, "proc/7/comm", text, sizeof text), 0);
	ck_assert_str_eq(text, "a lo");
	ck_assert_int_eq(proc_file_read(dir, "proc/8/comm", text, sizeof text), -ENOENT);
	ck_assert_int_eq(proc_file_read(dir, "proc/7", text, sizeof text), -EISDIR);
	close(dir);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(resident_pages_are_those_that_the_kernel_counts),
	UNIT_TEST(reads_stat_whatever_the_name),
	UNIT_TEST(refuses_malformed_stat_lines),
	UNIT_TEST(reads_io),
	UNIT_TEST(reads_schedstat),
	UNIT_TEST(reads_a_file_up_to_the_buffer),
	{NULL},
};

UNIT_MAIN("proc_file", .set_up = fake_root_make, .tear_down = fake_root_remove, .tests = tests)
