/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the counters of programs with a fake /proc, how long they are kept, and PSS. */
#include <check.h>
#include <errno.h>
#include <glob.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/kernel/proc_file.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/machine_fixture.h"
#include "tests/unit/unit.h"

#define get machine_fixture_get
#define sample machine_fixture_sample
#define TICKS_PER_S (sysconf(_SC_CLK_TCK))

static void write_stat(pid_t pid, char state, int faults, long ticks, int n_threads, int pages)
{
	char path[64];
	char text[256];

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	snprintf(text, sizeof text,
		"%d (fake) %c 1 1 1 0 -1 0 %d 0 2 0 %ld 0 0 0 20 0 %d 0 1 1 %d 0\n", (int)pid,
		state, faults, ticks, n_threads, pages);
	fake_root_write(path, text);
}

static void write_schedstat(pid_t pid, int tid, int n_switches)
{
	char path[64];
	char text[64];

	snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)pid, tid);
	if (!tid)
		snprintf(path, sizeof path, "/proc/%d/schedstat", (int)pid);
	snprintf(text, sizeof text, "1 2 %d\n", n_switches);
	fake_root_write(path, text);
}

static size_t list_self(void *context, struct machine_process *out, size_t max)
{
	(void)context, (void)max;
	*out = (struct machine_process){.id = 1, .pid = getpid(), .name = "self"};
	return 1;
}

START_TEST(a_program_is_measured)
{
	write_stat(42, 'S', 100, 0, 1, 512);
	write_schedstat(42, 0, 10);
	fake_root_write("/proc/42/statm", "5000 1030 10 1 0 20 0\n");
	machine_fixture_add_program(7, 42, "train");
	machine_fixture_open(NULL);
	sample();
	write_stat(42, 'S', 350, TICKS_PER_S / 2, 1, 1024);
	write_schedstat(42, 0, 30);
	sample();
	ck_assert_double_eq_tol(get("process train cpu"), 50, 0.001);
	ck_assert_double_eq(get("process train minor faults"), 250);
	ck_assert_double_eq(get("process train major faults"), 0);
	ck_assert_double_eq(get("process train threads"), 1);
	ck_assert_double_eq(get("process train rss"), 1030.0 * (double)sysconf(_SC_PAGESIZE));
	ck_assert_double_eq(get("process train context switches"), 20);
	/* The program's first thread has ended before the others. */
	write_stat(42, 'Z', 350, TICKS_PER_S / 2, 1, 0);
	sample();
	ck_assert(isnan(get("process train rss")));
}
END_TEST

START_TEST(switches_are_summed_up_over_threads)
{
	write_stat(42, 'S', 0, 0, 2, 1);
	write_schedstat(42, 42, 100);
	write_schedstat(42, 43, 1000);
	machine_fixture_add_program(7, 42, "train");
	machine_fixture_open(NULL);
	sample();
	write_schedstat(42, 42, 105);
	write_schedstat(42, 43, 1020);
	sample();
	ck_assert_double_eq(get("process train context switches"), 25);
	/* One thread has ended. */
	fake_root_write("/proc/42/task/43/schedstat", "");
	sample();
	ck_assert(isnan(get("process train context switches")));
}
END_TEST

/*
 * One sample reads the context switches of 32 threads. The values of other threads stay as they
 * are.
 */
START_TEST(switches_of_many_are_read_in_turn)
{
	for (int i = 0; i < 100; i++) {
		write_stat(100 + i, 'S', 0, 0, 1, 1);
		write_schedstat(100 + i, 0, 0);
		machine_fixture_add_program((uint64_t)i + 1, 100 + i, i == 99 ? "last" : "other");
	}
	machine_fixture_open(NULL);
	for (int i = 0; i < 4; i++)
		sample();
	write_schedstat(199, 0, 60);
	for (int i = 0; i < 2; i++) {
		sample(); /* not its turn */
		ck_assert(isnan(get("process last context switches")));
	}
	sample();
	ck_assert_double_eq(get("process last context switches"), 20);
	write_schedstat(199, 0, 999);
	sample(); /* not its turn */
	ck_assert_double_eq(get("process last context switches"), 20);
}
END_TEST

START_TEST(a_reused_pid_begins_new_counters)
{
	write_stat(42, 'S', 0, 50, 1, 1);
	machine_fixture_add_program(7, 42, "old");
	machine_fixture_open(NULL);
	sample();
	machine_fixture_remove_program(0);
	machine_fixture_add_program(8, 42, "new");
	write_stat(42, 'S', 900, 90, 1, 1);
	sample();
	ck_assert(isnan(get("process old minor faults")));
	ck_assert(isnan(get("process new minor faults")));
	write_stat(42, 'S', 901, 90, 1, 1);
	sample();
	ck_assert_double_eq(get("process new minor faults"), 1);
}
END_TEST

START_TEST(programs_come_and_go)
{
	for (int i = 0; i < 10; i++) {
		char name[16];

		snprintf(name, sizeof name, "p%d", i);
		write_stat(100 + i, 'S', 0, 0, i + 1, 1);
		machine_fixture_add_program((uint64_t)i + 1, 100 + i, name);
	}
	machine_fixture_open(NULL);
	sample();
	machine_fixture_remove_program(9);
	machine_fixture_remove_program(4);
	machine_fixture_remove_program(0);
	machine_fixture_add_program(20, 109, "again");
	sample();
	ck_assert(isnan(get("process p0 threads")));
	ck_assert(isnan(get("process p4 threads")));
	ck_assert_double_eq(get("process p1 threads"), 2);
	ck_assert_double_eq(get("process p8 threads"), 9);
	ck_assert_double_eq(get("process again threads"), 10);
	ck_assert_uint_eq(machine_fixture_count(), 11);
	machine_fixture.n_programs = 0;
	sample();
	ck_assert(isnan(get("process p8 threads")));
}
END_TEST

START_TEST(more_programs_than_are_measured_are_no_harm)
{
	for (unsigned i = 0; i < MACHINE_MAX_PROCESSES + 8; i++) {
		write_stat(1000 + (pid_t)i, 'S', 0, 0, 1, 1);
		machine_fixture_add_program(i + 1, 1000 + (pid_t)i, "many");
	}
	machine_fixture_open(NULL);
	sample();
	ck_assert_uint_eq(machine_fixture_count(), MACHINE_MAX_PROCESSES);
	/* Programs that waited now get the places of 8 that ended. */
	for (int i = 0; i < 8; i++)
		machine_fixture_remove_program(0);
	sample();
	ck_assert_uint_eq(machine_fixture_count(), MACHINE_MAX_PROCESSES + 8);
}
END_TEST

/* A sanitizer has threads of its own. */
static size_t count_threads(void)
{
	glob_t found;
	size_t n;

	ck_assert_int_eq(glob("/proc/self/task/*", 0, NULL, &found), 0);
	n = found.gl_pathc;
	globfree(&found);
	return n;
}

/* The kernel reports the same of this program in other ways. */
START_TEST(a_real_program_is_as_the_kernel_says)
{
	const struct machine_config config = {
		.root = "", .nvml = "/no/such/library", .list = list_self};
	const int64_t mega = 32 << 20;
	struct rusage before, after;
	int64_t begin_ns, cpu_ns;
	char *memory = mmap(
		NULL, (size_t)mega, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_int_eq(machine_new(&config, &machine_fixture.machine), 0);
	getrusage(RUSAGE_SELF, &before);
	cpu_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
	begin_ns = monotonic_ns();
	machine_sample(machine_fixture.machine, begin_ns);
	memset(memory, 1, (size_t)mega);
	while (clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns < 200 * NS_PER_MS)
		;
	cpu_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns;
	machine_sample(machine_fixture.machine, begin_ns + NS_PER_S);
	getrusage(RUSAGE_SELF, &after);
	/* The kernel counts in ticks of 10 ms, for user and system time separately. */
	ck_assert_double_eq_tol(get("process self cpu"), (double)cpu_ns / 1e7, 3);
	ck_assert_double_ge(get("process self rss"), (double)mega * 0.9);
	ck_assert_double_le(get("process self rss"), (double)after.ru_maxrss * 1024 * 1.1);
	ck_assert_double_eq(get("process self threads"), (double)count_threads());
	ck_assert_double_gt(get("process self minor faults"), 0);
	ck_assert_double_le(
		get("process self minor faults"), (double)(after.ru_minflt - before.ru_minflt));
	ck_assert_double_ge(get("process self context switches"), 0);
	munmap(memory, (size_t)mega);
}
END_TEST

/* Ten minutes. */

static int check_ten_minutes(const struct history *h, void *context)
{
	const struct subject *s = h->v[0];

	(void)context;
	ck_assert_uint_eq(history_first(h), h->n - HISTORY_SAMPLES);
	ck_assert_int_eq(history_time_ns(h, h->n - 1) - history_time_ns(h, history_first(h)),
		(HISTORY_SAMPLES - 1) * NS_PER_S);
	for (uint64_t n = history_first(h); n < h->n; n++)
		ck_assert_double_eq(subject_get(s, 3, n), (double)n * 1024);
	ck_assert(isnan(subject_get(s, 3, history_first(h) - 1)));
	ck_assert(isnan(subject_get(s, 3, h->n)));
	return 0;
}

static int check_peek(const struct history *h, void *context)
{
	const struct subject *s = h->v[0];

	(void)context;
	ck_assert_int_eq(history_time_ns(h, h->n - 1) - history_time_ns(h, h->n - 2), NS_PER_MS);
	ck_assert_double_eq(subject_get(s, 3, h->n - 1), subject_get(s, 3, h->n - 2));
	return 0;
}

START_TEST(ten_minutes_are_kept)
{
	char text[64];

	fake_root_write("/proc/meminfo", "");
	machine_fixture_open(NULL);
	for (int i = 0; i < 1500; i++) {
		snprintf(text, sizeof text, "MemTotal: %d kB\n", i);
		fake_root_write("/proc/meminfo", text);
		sample();
	}
	ck_assert_double_eq(get("memory total"), 1499.0 * 1024);
	machine_read(machine_fixture.machine, check_ten_minutes, NULL);
	machine_read_behind(machine_fixture.machine, machine_fixture.now_ns,
		machine_fixture.now_ns + NS_PER_MS, check_peek, NULL);
	machine_read(machine_fixture.machine, check_ten_minutes, NULL);
}
END_TEST

START_TEST(ended_program_is_forgotten_after_that)
{
	write_stat(42, 'S', 0, 0, 1, 1);
	machine_fixture_add_program(7, 42, "train");
	machine_fixture_open(NULL);
	sample();
	machine_fixture_remove_program(0);
	for (unsigned i = 1; i < HISTORY_SAMPLES; i++)
		sample();
	ck_assert_uint_eq(machine_fixture_count(), 1);
	sample();
	ck_assert_uint_eq(machine_fixture_count(), 0);
}
END_TEST

static void *read_often(void *is_over)
{
	while (!__atomic_load_n((bool *)is_over, __ATOMIC_RELAXED))
		get("process train threads");
	return NULL;
}

START_TEST(any_thread_may_read)
{
	pthread_t thread;
	bool is_over = false;

	write_stat(42, 'S', 0, 0, 5, 1);
	machine_fixture_add_program(7, 42, "train");
	machine_fixture_open(NULL);
	sample();
	ck_assert_int_eq(pthread_create(&thread, NULL, read_often, &is_over), 0);
	for (int i = 0; i < 700; i++)
		sample();
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	ck_assert_double_eq(get("process train threads"), 5);
}
END_TEST

START_TEST(shares_of_memory_are_read_on_demand)
{
	uint64_t bytes = 77;

	fake_root_write("/proc/42/smaps_rollup",
		"55d0c0000000-7ffd0000 ---p 00000000 00:00 0   [rollup]\nRss:   900 kB\nPss:   450 kB\nPss_Dirty: 3 kB\n");
	fake_root_write("/proc/43/smaps_rollup", "Rss: 1 kB\nPss: x\n");
	ck_assert_int_eq(pss_read(fake_root, 42, &bytes), 0);
	ck_assert_uint_eq(bytes, 450 * 1024);
	ck_assert_int_eq(pss_read(fake_root, 43, &bytes), -EINVAL);
	ck_assert_int_eq(pss_read(fake_root, 44, &bytes), -ENOENT);
	ck_assert_int_eq(pss_read("", getpid(), &bytes), 0);
	ck_assert_uint_gt(bytes, 100 * 1024);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(a_program_is_measured),
	UNIT_TEST(switches_are_summed_up_over_threads),
	UNIT_TEST(switches_of_many_are_read_in_turn),
	UNIT_TEST(a_reused_pid_begins_new_counters),
	UNIT_TEST(programs_come_and_go),
	UNIT_TEST(more_programs_than_are_measured_are_no_harm),
	UNIT_TEST(a_real_program_is_as_the_kernel_says),
	UNIT_TEST(ten_minutes_are_kept),
	UNIT_TEST(ended_program_is_forgotten_after_that),
	UNIT_TEST(any_thread_may_read),
	UNIT_TEST(shares_of_memory_are_read_on_demand),
	{NULL},
};

UNIT_MAIN("machine processes", .set_up = machine_fixture_set_up,
	.tear_down = machine_fixture_tear_down, .tests = tests)
