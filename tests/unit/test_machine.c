/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests a machine's counters with files of /proc and /sys that have known numbers: in the kernel's
 * format, and in bad ones.
 */
#include "daemon/host/machine/machine.h"

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/machine_fixture.h"
#include "tests/unit/unit.h"

#define get machine_fixture_get
#define sample machine_fixture_sample

static void start(void)
{
	machine_fixture_open(NULL);
	sample();
}

static bool is_unknown(const char *text)
{
	return isnan(get(text));
}

/* Processors. */

START_TEST(usage_of_processors_is_in_shares)
{
	fake_root_write("/proc/stat", "cpu  100 0 100 800 0 0 0 0 0 0\n"
				      "cpu0 100 0 100 800 0 0 0 0 0 0\nctxt 1000\n");
	start();
	ck_assert(is_unknown("cpu busy"));
	fake_root_write("/proc/stat", "cpu  120 10 110 840 10 5 5 10 0 0\n"
				      "cpu0 150 0 100 850 0 0 0 0 0 0\nctxt 3500\n");
	sample();
	ck_assert_double_eq_tol(get("cpu user"), 27.2727, 0.001);
	ck_assert_double_eq_tol(get("cpu system"), 18.1818, 0.001);
	ck_assert_double_eq_tol(get("cpu busy"), 45.4545, 0.001);
	ck_assert_double_eq_tol(get("cpu iowait"), 9.0909, 0.001);
	ck_assert_double_eq_tol(get("cpu steal"), 9.0909, 0.001);
	ck_assert_double_eq(get("core 0 busy"), 50);
	ck_assert_double_eq(get("machine context switches"), 2500);
}
END_TEST

START_TEST(iowait_that_goes_back_is_none)
{
	fake_root_write("/proc/stat", "cpu  100 0 0 100 90 0 0 0\n");
	start();
	fake_root_write("/proc/stat", "cpu  150 0 0 150 70 0 0 0\n");
	sample();
	ck_assert_double_eq(get("cpu iowait"), 0);
	ck_assert_double_eq(get("cpu busy"), 50);
	/* All counters have gone back, so no share can be computed. */
	fake_root_write("/proc/stat", "cpu  10 0 0 10 7 0 0 0\n");
	sample();
	ck_assert(is_unknown("cpu busy"));
	fake_root_write("/proc/stat", "cpu  11 0 0 13 7 0 0 0\n");
	sample();
	ck_assert_double_eq(get("cpu busy"), 25);
}
END_TEST

START_TEST(cores_come_and_go)
{
	fake_root_write("/proc/stat", "cpu  0 0 0 0\ncpu0 0 0 0 0\ncpu3 0 0 0 0\n");
	start();
	fake_root_write("/proc/stat", "cpu  10 0 0 10\ncpu0 5 0 0 5\ncpu3 5 0 0 5\n");
	sample();
	ck_assert_double_eq(get("core 3 busy"), 50);
	fake_root_write("/proc/stat", "cpu  10 0 0 20\ncpu0 5 0 0 15\n");
	sample();
	ck_assert(is_unknown("core 3 busy"));
	ck_assert_double_eq(get("core 0 busy"), 0);
	/* Earlier times of this core are no base for a rate. */
	fake_root_write("/proc/stat", "cpu  10 0 0 30\ncpu0 5 0 0 25\ncpu3 90 0 0 5\n");
	sample();
	ck_assert(is_unknown("core 3 busy"));
	fake_root_write("/proc/stat", "cpu  10 0 0 40\ncpu0 5 0 0 35\ncpu3 91 0 0 8\n");
	sample();
	ck_assert_double_eq(get("core 3 busy"), 25);
}
END_TEST

/* Memory, pressure. */

START_TEST(used_memory_excludes_available_memory)
{
	fake_root_write("/proc/meminfo",
		"MemTotal:  8192 kB\nMemFree: 1 kB\nMemAvailable: 2048 kB\n"
		"SwapTotal: 1024 kB\nSwapFree: 1000 kB\n");
	start();
	ck_assert_double_eq(get("memory total"), 8192.0 * 1024);
	ck_assert_double_eq(get("memory used"), 6144.0 * 1024);
	ck_assert_double_eq(get("memory available"), 2048.0 * 1024);
	ck_assert_double_eq(get("memory swap used"), 24.0 * 1024);
	/* The kernel claims more available memory than there is. */
	fake_root_write("/proc/meminfo", "MemTotal:  8192 kB\nMemAvailable: 9000 kB\n");
	sample();
	ck_assert(is_unknown("memory used"));
	ck_assert(is_unknown("memory swap used"));
}
END_TEST

START_TEST(pressure_is_a_share_of_time)
{
	const char *text = "some avg10=0.00 avg60=0.00 avg300=0.00 total=%d\n"
			   "full avg10=0.00 avg60=0.00 avg300=0.00 total=%d\n";
	char file[256];

	snprintf(file, sizeof file, text, 1000000, 0);
	fake_root_write("/proc/pressure/io", file);
	start();
	snprintf(file, sizeof file, text, 1250000, 10000);
	fake_root_write("/proc/pressure/io", file);
	sample();
	ck_assert_double_eq_tol(get("pressure io some"), 25, 0.001);
	ck_assert_double_eq_tol(get("pressure io full"), 1, 0.001);
	ck_assert(is_unknown("pressure cpu some"));
}
END_TEST

/* Disks, networks. */

START_TEST(disks_are_devices)
{
	const char *text =
		"   8   0 sda 1 0 %d 0 1 0 %d 0 0 %d 0\n   8   1 sda1 1 0 %d 0 1 0 %d 0 0 0 0\n"
		"   7   0 loop0 1 0 %d 0 1 0 %d 0 0 0 0\n";
	char file[512];

	fake_root_write("/sys/block/sda/device/vendor", "x\n");
	fake_root_write("/sys/block/loop0/size", "0\n");
	snprintf(file, sizeof file, text, 100, 10, 500, 1, 1, 1, 1);
	fake_root_write("/proc/diskstats", file);
	start();
	snprintf(file, sizeof file, text, 300, 20, 600, 90, 90, 90, 90);
	fake_root_write("/proc/diskstats", file);
	sample();
	ck_assert_double_eq(get("disk sda read"), 200 * 512);
	ck_assert_double_eq(get("disk sda written"), 10 * 512);
	ck_assert_double_eq_tol(get("disk sda busy"), 10, 0.001);
	ck_assert(is_unknown("disk sda1 read"));
	ck_assert(is_unknown("disk loop0 read"));
}
END_TEST

#define NET_HEAD "Inter-|   Receive  |  Transmit\n face |bytes    packets errs\n"

static void write_net(const char *received, const char *sent)
{
	char file[512];

	snprintf(file, sizeof file,
		NET_HEAD "    lo: 9%s 1 0 0 0 0 0 0 9%s 1 0 0 0 0 0 0\n"
			 "  eth0:%s 1 0 0 0 0 0 0 %s 1 0 0 0 0 0 0\n",
		received, sent, received, sent);
	fake_root_write("/proc/net/dev", file);
}

START_TEST(counters_that_wrap_or_begin_anew_say_nothing_once)
{
	write_net("4294967000", "18446744073709551000");
	start();
	write_net("4294967200", "18446744073709551100");
	sample();
	ck_assert_double_eq(get("network eth0 received"), 200);
	ck_assert_double_eq(get("network eth0 sent"), 100);
	write_net("100", "5");
	sample();
	ck_assert(is_unknown("network eth0 received"));
	ck_assert(is_unknown("network eth0 sent"));
	write_net("150", "65");
	sample();
	ck_assert_double_eq(get("network eth0 received"), 50);
	ck_assert_double_eq(get("network eth0 sent"), 60);
	ck_assert(is_unknown("network lo received"));
}
END_TEST

START_TEST(an_interface_that_comes_back_begins_at_0)
{
	write_net("1000", "1000");
	start();
	fake_root_write("/proc/net/dev", NET_HEAD);
	sample();
	ck_assert(is_unknown("network eth0 sent"));
	write_net("5000", "5000");
	sample();
	ck_assert(is_unknown("network eth0 sent"));
	write_net("5001", "5002");
	sample();
	ck_assert_double_eq(get("network eth0 sent"), 2);
	/* It is still the same interface. */
	ck_assert_uint_eq(machine_fixture_count(), 2);
}
END_TEST

START_TEST(neural_processors_have_a_busy_share)
{
	fake_root_write("/sys/class/accel/accel0/device/npu_busy_time_us", "1000\n");
	fake_root_write("/sys/class/accel/accel0/device/npu_memory_utilization", "4096\n");
	fake_root_write("/sys/class/accel/accel1/device/vendor", "0x1\n");
	start();
	fake_root_write("/sys/class/accel/accel0/device/npu_busy_time_us", "501000\n");
	sample();
	ck_assert_double_eq_tol(get("npu 0 busy"), 50, 0.001);
	ck_assert_double_eq(get("npu 0 memory used"), 4096);
	ck_assert(is_unknown("npu 1 busy"));
}
END_TEST

/* Bad files. */

START_TEST(missing_files_make_no_counters)
{
	start();
	sample();
	ck_assert_uint_eq(machine_fixture_count(), 0);
}
END_TEST

static const char *const files[] = {"/proc/stat", "/proc/meminfo", "/proc/pressure/cpu",
	"/proc/diskstats", "/proc/net/dev", "/sys/class/accel/accel0/device/npu_busy_time_us"};
#define N_FILES (sizeof files / sizeof *files)

static const char *const contents[] = {"", "\n", "\n\n\n", "cpu", "cpu \n", "cpu 1 2 3\n", "cpu0\n",
	"cpu-1 1 1 1 1\n", "cpu99999999999999999999999 1 1 1 1\n", "cpu256 1 1 1 1\n",
	"cpu0x 1 1 1 1\n", "MemTotal:\n", "MemTotal: -1 kB\n", "MemTotal: kB\nMemAvailable: x\n",
	"some\n", "some a b c\n", "full a b c total=\n", "some a b c total=x\n", "8 0 sda\n",
	"8 0 sda 1 2 3\n", "8\n", ":\n", "eth0:\n", "eth0: 1 2 3\n", "eth0: x 2 3 4 5 6 7 8 9\n",
	"\x01\xff\xfe\x80:1 2 3 4 5 6 7 8 9 10\n", "nothing without an end", "cpu 1 1 1 1 1 1 1 1"};

START_TEST(damaged_files_are_left_out)
{
	for (size_t i = 0; i < N_FILES; i++)
		fake_root_write(files[i], contents[_i]);
	start();
	sample();
	ck_assert(is_unknown("cpu busy"));
	ck_assert(is_unknown("memory total"));
	ck_assert(is_unknown("pressure cpu some"));
	ck_assert(is_unknown("network eth0 sent"));
	/* A file of the NPU is valid if it begins with a number, as "8 0 sda" does. */
	ck_assert(contents[_i][0] == '8' || is_unknown("npu 0 busy"));
}
END_TEST

START_TEST(numbers_too_large_for_64_bits_are_survived)
{
#define HUGE_NUMBER "99999999999999999999999999999999"
	fake_root_write("/proc/stat", "cpu 0 0 0 0 0 0 0 0\nctxt 1\n");
	fake_root_write("/proc/meminfo", "MemTotal: " HUGE_NUMBER "\nMemAvailable: 0\n");
	start();
	fake_root_write("/proc/stat",
		"cpu  " HUGE_NUMBER " 0 0 " HUGE_NUMBER " 0 0 0 0\nctxt " HUGE_NUMBER "\n");
	sample();
	ck_assert_double_eq_tol(get("cpu busy"), 50, 0.001);
	ck_assert_double_ge(get("machine context switches"), 1e19);
	ck_assert_double_ge(get("memory total"), 1e22);
}
END_TEST

START_TEST(names_are_made_printable_and_cut)
{
	fake_root_write("/proc/net/dev",
		"\x1b[31m: 1 1 1 1 1 1 1 1 1 1\n"
		"a_name_that_is_much_longer_than_any_that_the_kernel_would_let_an_interface_have: 1 1 1 1 1 1 1 1 1\n");
	start();
	ck_assert_uint_eq(machine_fixture_count(), 1);
	fake_root_write("/proc/net/dev", "\x1b[31m: 4 1 1 1 1 1 1 1 1 1\n");
	sample();
	ck_assert_double_eq(get("network ?[31m received"), 3);
}
END_TEST

START_TEST(subjects_beyond_the_limit_are_left_out)
{
	char *text = malloc(120000);
	size_t n = 0;

	for (int i = 0; i < 3000; i++)
		n += (size_t)snprintf(text + n, 120000 - n, "n%d: 1 0 0 0 0 0 0 0 1\n", i);
	fake_root_write("/proc/net/dev", text);
	free(text);
	start();
	sample();
	ck_assert_uint_eq(machine_fixture_count(), HISTORY_MAX_SUBJECTS);
	ck_assert_double_eq(get("network n0 sent"), 0);
	/* Vanished interfaces make room. */
	write_net("1", "1");
	sample();
	sample();
	sample();
	write_net("1", "2");
	sample();
	ck_assert_double_eq(get("network eth0 sent"), 1);
}
END_TEST

START_TEST(the_real_files_of_this_machine_can_be_read)
{
	const struct machine_config config = {.root = "", .nvml = "/no/such/library"};
	int64_t before;

	ck_assert_int_eq(machine_new(&config, &machine_fixture.machine), 0);
	machine_sample(machine_fixture.machine, monotonic_ns());
	before = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
	while (clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - before < 50 * NS_PER_MS)
		;
	machine_sample(machine_fixture.machine, monotonic_ns());
	ck_assert_double_gt(get("cpu busy"), 0);
	ck_assert_double_le(get("cpu busy"), 100.01);
	ck_assert_double_gt(get("machine context switches"), 0);
	ck_assert_double_eq_tol(get("memory total"),
		(double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE),
		get("memory total") / 50);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(usage_of_processors_is_in_shares),
	UNIT_TEST(iowait_that_goes_back_is_none),
	UNIT_TEST(cores_come_and_go),
	UNIT_TEST(used_memory_excludes_available_memory),
	UNIT_TEST(pressure_is_a_share_of_time),
	UNIT_TEST(disks_are_devices),
	UNIT_TEST(counters_that_wrap_or_begin_anew_say_nothing_once),
	UNIT_TEST(an_interface_that_comes_back_begins_at_0),
	UNIT_TEST(neural_processors_have_a_busy_share),
	UNIT_TEST(missing_files_make_no_counters),
	UNIT_LOOP(damaged_files_are_left_out, sizeof contents / sizeof *contents),
	UNIT_TEST(numbers_too_large_for_64_bits_are_survived),
	UNIT_TEST(names_are_made_printable_and_cut),
	UNIT_TEST(subjects_beyond_the_limit_are_left_out),
	UNIT_TEST(the_real_files_of_this_machine_can_be_read),
	{NULL},
};

UNIT_MAIN("machine", .set_up = machine_fixture_set_up, .tear_down = machine_fixture_tear_down,
	.tests = tests)
