/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests samples of a process's usage: of this process, and of one under a
 * fake /proc with known numbers.
 */
#include "daemon/pipeline/usage/usage.h"

#include <check.h>
#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/kernel/process_tree.h"
#include "daemon/pipeline/assembly/usage_lines.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/unit.h"
#include "trace/model/space.h"

/* Above any pid of the kernel: there is no CPU clock for it, so the fake files count. */
#define FAKE_PID 5000000
#define TICK_NS (NS_PER_S / sysconf(_SC_CLK_TCK))

static struct {
	struct usage usage;
	struct space *space;
	struct plane *plane;
} t;

static void set_up(void)
{
	fake_root_make();
	ck_assert_int_eq(space_new(&t.space), 0);
	t.plane = space_add_plane(t.space, 0, PLANE_HOST);
}

static void tear_down(void)
{
	usage_close(&t.usage);
	t.space = space_free(t.space);
	fake_root_remove();
}

static void write_file(const char *path, const char *text)
{
	char full[128];

	snprintf(full, sizeof full, "/proc/%d/%s", FAKE_PID, path);
	fake_root_write(full, text);
}

static void write_stat(char state, int faults, int ticks, int n_threads, int pages)
{
	char text[256];

	snprintf(text, sizeof text,
		"%d (fake) %c 1 1 1 0 -1 0 %d 0 2 0 %d 0 0 0 20 0 %d 0 1 1 %d 0\n", FAKE_PID, state,
		faults, ticks, n_threads, pages);
	write_file("stat", text);
}

static void write_thread(int tid, const char *name, const char *schedstat)
{
	char path[64];

	snprintf(path, sizeof path, "task/%d/schedstat", tid);
	write_file(path, schedstat);
	snprintf(path, sizeof path, "task/%d/comm", tid);
	write_file(path, name);
}

static void draw(int64_t start_ns, int64_t stop_ns)
{
	ck_assert_int_eq(usage_add_lines(&t.usage, start_ns, stop_ns, t.plane), 0);
}

/* Returns the line of the counter |name|, or NULL. */
static const struct line *find(const char *name)
{
	for (size_t i = 0; i < t.plane->n_lines; i++) {
		const struct line *line = &t.plane->lines[i];

		if (strcmp(names_get(&t.plane->event_names, line->events[0].name), name) == 0)
			return line;
	}
	return NULL;
}

static double value_at(const char *name, size_t i)
{
	const struct line *line = find(name);

	ck_assert_msg(line != NULL, "no counter %s", name);
	ck_assert_uint_lt(i, line->n_events);
	return plane_get_stats(t.plane, &line->events[i])->value.f64;
}

/* Moves the samples so that they are a second apart. */
static void space_out(void)
{
	for (size_t i = 0; i < t.usage.n_samples; i++)
		t.usage.samples[i].at_ns = (int64_t)i * NS_PER_S;
	for (size_t i = 0; i < t.usage.threads.n; i++)
		for (size_t k = 0; k < t.usage.threads.v[i]->n; k++)
			t.usage.threads.v[i]->v[k].at_ns = (int64_t)k * NS_PER_S;
}

START_TEST(rates_stand_at_the_start_of_their_time_and_at_the_end)
{
	write_stat('S', 100, 10, 3, 512);
	usage_open(&t.usage, fake_root, FAKE_PID, 100);
	write_stat('S', 350, 60, 4, 1024);
	usage_finish(&t.usage, 0);
	space_out();
	draw(0, NS_PER_S);
	ck_assert_uint_eq(find("process minor faults/s")->n_events, 2);
	ck_assert_int_eq(find("process minor faults/s")->events[0].start_ns, 0);
	ck_assert_int_eq(find("process minor faults/s")->events[1].start_ns, NS_PER_S);
	ck_assert_double_eq(value_at("process minor faults/s", 0), 250);
	ck_assert_double_eq(value_at("process minor faults/s", 1), 250);
	ck_assert_double_eq(value_at("process major faults/s", 1), 0);
	ck_assert_double_eq(value_at("process cpu %", 0), (double)(50 * TICK_NS) / 1e7);
	ck_assert_double_eq(value_at("process threads", 0), 3);
	ck_assert_double_eq(value_at("process threads", 1), 4);
	ck_assert_double_eq(
		value_at("process rss MiB", 1), 1024.0 * (double)sysconf(_SC_PAGESIZE) / (1 << 20));
	ck_assert_ptr_null(find("process read bytes/s"));
	ck_assert_ptr_null(find("process context switches/s"));
}
END_TEST

/* A rate over the moment between the last visit and the end is noise. */
START_TEST(the_last_sample_of_a_family_replaces_one_just_before)
{
	struct usage *family;

	write_stat('S', 100, 10, 3, 512);
	usage_open(&t.usage, fake_root, FAKE_PID, 60000);
	usage_open_family(&t.usage, fake_root);
	family = t.usage.family;
	ck_assert_ptr_nonnull(family);
	while (family->n_samples < 2) {
		t.usage.family_due_ns = 0;
		usage_visit(&t.usage);
	}
	write_stat('S', 350, 60, 4, 1024);
	usage_finish(&t.usage, 0);
	ck_assert_uint_eq(family->n_samples, 2);
	ck_assert_uint_eq(family->samples[1].value[USAGE_MINOR_FAULTS], 250);
}
END_TEST

START_TEST(threads_are_told_apart_and_summed_up)
{
	write_stat('S', 0, 0, 3, 1);
	write_thread(7, "idle\n", "5 5 5\n");
	write_thread(8, "busy one) (\n", "1000000000 100 7\n");
	write_thread(9, "first\n", "0 0 1\n");
	usage_open(&t.usage, fake_root, FAKE_PID, 100);
	write_thread(8, "busy one) (\n", "1500000000 250000100 17\n");
	write_thread(9, "renamed\n", "20000000 0 2\n");
	usage_finish(&t.usage, 0);
	space_out();
	draw(0, NS_PER_S);
	ck_assert_double_eq(value_at("thread cpu % busy one) ( (8)", 0), 50);
	ck_assert_double_eq(value_at("thread cpu % renamed (9)", 0), 2);
	ck_assert_ptr_null(find("thread cpu % idle (7)"));
	ck_assert_double_eq(value_at("process cpu wait %", 0), 25);
	ck_assert_double_eq(value_at("process context switches/s", 1), 11);
}
END_TEST

START_TEST(a_thread_that_comes_later_or_takes_a_number_over_begins_at_0)
{
	write_stat('S', 0, 0, 1, 1);
	write_thread(8, "old\n", "900000000 0 1\n");
	usage_open(&t.usage, fake_root, FAKE_PID, 100);
	write_thread(8, "young\n", "300000000 0 1\n");
	write_thread(9, "new\n", "200000000 0 1\n");
	usage_finish(&t.usage, 0);
	space_out();
	draw(0, NS_PER_S);
	ck_assert_double_eq(value_at("thread cpu % young (8)", 0), 30);
	ck_assert_double_eq(value_at("thread cpu % new (9)", 0), 20);
	ck_assert_ptr_null(find("thread cpu % old (8)"));
}
END_TEST

START_TEST(without_counts_of_the_scheduler_ticks_serve)
{
	const char *text = "8 (x) R 1 1 1 0 -1 0 0 0 0 0 %d 0 0 0 20 0 1 0 1 1 1 0\n";
	char stat[128];

	write_stat('S', 0, 0, 1, 1);
	write_thread(8, "x\n", "0 0 0\n");
	snprintf(stat, sizeof stat, text, 10);
	write_file("task/8/stat", stat);
	usage_open(&t.usage, fake_root, FAKE_PID, 100);
	snprintf(stat, sizeof stat, text, 30);
	write_file("task/8/stat", stat);
	usage_finish(&t.usage, 0);
	space_out();
	draw(0, NS_PER_S);
	ck_assert_double_eq(value_at("thread cpu % x (8)", 0), (double)(20 * TICK_NS) / 1e7);
	ck_assert_ptr_null(find("process context switches/s"));
}
END_TEST

START_TEST(missing_files_make_no_lines)
{
	usage_open(&t.usage, fake_root, FAKE_PID, 100);
	usage_visit(&t.usage);
	usage_finish(&t.usage, 0);
	draw(0, 1);
	ck_assert_uint_eq(t.plane->n_lines, 0);
}
END_TEST

START_TEST(damaged_files_are_left_out)
{
	write_stat('S', 100, 10, 3, 512);
	write_file("io", "rchar: what\n");
	write_thread(8, "x\n", "what\n");
	usage_open(&t.usage, fake_root, FAKE_PID, 100);
	write_file("stat", "5000000 (fake");
	usage_finish(&t.usage, 0);
	draw(0, NS_PER_S);
	ck_assert_uint_eq(find("process threads")->n_events, 1);
	/* One sample gives no rate. */
	ck_assert_ptr_null(find("process minor faults/s"));
	ck_assert_ptr_null(find("process read bytes/s"));
}
END_TEST

START_TEST(memory_is_unknown_after_the_first_thread_ended)
{
	write_stat('Z', 100, 10, 3, 0);
	usage_open(&t.usage, fake_root, FAKE_PID, 100);
	usage_finish(&t.usage, 1);
	draw(0, NS_PER_S);
	ck_assert_ptr_null(find("process rss MiB"));
	ck_assert_double_eq(value_at("process threads", 0), 3);
}
END_TEST

START_TEST(a_total_that_goes_back_is_no_use)
{
	write_stat('S', 100, 10, 3, 512);
	usage_open(&t.usage, fake_root, FAKE_PID, 100);
	write_stat('S', 10, 1, 3, 512);
	usage_finish(&t.usage, 0);
	space_out();
	draw(0, NS_PER_S);
	ck_assert_double_eq(value_at("process minor faults/s", 0), 0);
	ck_assert_double_eq(value_at("process cpu %", 0), 0);
}
END_TEST

START_TEST(a_long_capture_keeps_a_bounded_number_of_samples)
{
	write_stat('S', 0, 0, 1, 1);
	usage_open(&t.usage, fake_root, FAKE_PID, 10);
	write_stat('S', 1000, 0, 1, 1);
	for (int i = 0; i < 9000; i++) {
		t.usage.due_ns = 1;
		usage_visit(&t.usage);
	}
	ck_assert_uint_lt(t.usage.n_samples, 8192);
	ck_assert_int_eq(t.usage.interval_ns, 20 * NS_PER_MS);
	ck_assert_uint_eq(t.usage.samples[0].value[USAGE_MINOR_FAULTS], 0);
	ck_assert_uint_eq(t.usage.samples[t.usage.n_samples - 1].value[USAGE_MINOR_FAULTS], 1000);
}
END_TEST

START_TEST(a_late_sample_delays_the_next_one)
{
	const struct usage_sample *last;

	write_stat('S', 0, 0, 1, 1);
	usage_open(&t.usage, fake_root, FAKE_PID, 1000);
	usage_visit(&t.usage);
	t.usage.due_ns = monotonic_ns() - 900 * NS_PER_MS;
	usage_visit(&t.usage);
	last = &t.usage.samples[t.usage.n_samples - 1];
	/* The pass ends shortly before the sample is dated. */
	ck_assert_int_gt(t.usage.due_ns, last->at_ns + 400 * NS_PER_MS);
}
END_TEST

START_TEST(many_processes_share_the_memory)
{
	write_stat('S', 0, 0, 1, 1);
	usage_open(&t.usage, fake_root, FAKE_PID, 10);
	for (int i = 0; i < 1000; i++) {
		/* 256 processes come later, and share the memory. */
		t.usage.n_sharing = i < 500 ? 1 : 257;
		t.usage.due_ns = 1;
		usage_visit(&t.usage);
		if (i == 499)
			ck_assert_uint_gt(t.usage.n_samples, 500);
	}
	ck_assert_uint_lt(t.usage.n_samples, 4 * 8192 / 257 + 1);
}
END_TEST

START_TEST(only_the_busiest_threads_are_shown)
{
	write_stat('S', 0, 0, 99, 1);
	write_thread(1000, "main\n", "5 5 5\n");
	usage_open(&t.usage, fake_root, FAKE_PID, 100);
	for (int i = 1; i < 100; i++) {
		char text[64];

		snprintf(text, sizeof text, "%d 0 1\n", i * 10000000);
		write_thread(1000 + i, "worker\n", text);
	}
	usage_finish(&t.usage, 0);
	draw(0, NS_PER_S);
	ck_assert_ptr_nonnull(find("thread cpu % worker (1099)"));
	ck_assert_ptr_nonnull(find("thread cpu % worker (1068)"));
	ck_assert_ptr_null(find("thread cpu % worker (1067)"));
}
END_TEST

static void *spin(void *unused)
{
	int64_t end = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) + 60 * NS_PER_MS;

	prctl(PR_SET_NAME, "spinner", 0, 0, 0);
	while (clock_read_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
	return unused;
}

/* The thread has ended before the last sample, so only the process's clock has its time. */
/* Returns the processor time of the only child. */
static uint64_t finish_pass(struct process_tree *tree)
{
	struct process_tree_child child;

	while (process_tree_visit(tree, 64) == 0)
		;
	ck_assert(process_tree_get_child(tree, 0, &child));
	return child.cpu_ns;
}

static size_t count_processes_up_to(pid_t pid)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	size_t n = 0;

	while ((entry = readdir(dir)))
		n += atoi(entry->d_name) > 0 && atoi(entry->d_name) <= pid;
	closedir(dir);
	return n;
}

/*
 * The clock of a child that is gone in mid pass cannot be read. Its ticks of 10 ms are known, and
 * are less than the 19 ms that it used.
 */
START_TEST(a_child_that_is_gone_in_mid_pass_keeps_its_processor_time)
{
	struct process_tree tree;
	uint64_t before_ns;
	size_t n;
	pid_t pid = fork();

	if (pid == 0) {
		while (clock() < CLOCKS_PER_SEC * 19 / 1000)
			;
		pause();
		_exit(0);
	}
	process_tree_open(&tree, "", getpid());
	do
		before_ns = finish_pass(&tree);
	while (before_ns < 19000000);
	/* A pass reads the processes by their pids. */
	n = count_processes_up_to(pid);
	do
		ck_assert_int_eq(process_tree_visit(&tree, 1), 0);
	while (tree.n_entries < n);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_uint_ge(finish_pass(&tree), before_ns);
	process_tree_close(&tree);
}
END_TEST

START_TEST(the_real_proc_of_this_process_can_be_read)
{
	int64_t start = monotonic_ns();
	pthread_t thread;

	usage_open(&t.usage, "", getpid(), 100);
	ck_assert_int_eq(pthread_create(&thread, NULL, spin, NULL), 0);
	pthread_join(thread, NULL);
	usage_finish(&t.usage, 0);
	draw(start, monotonic_ns());
	ck_assert_double_gt(
		value_at("process cpu %", 0) * (double)(monotonic_ns() - start) / 1e9, 6.0 * 0.9);
	ck_assert_double_gt(value_at("process rss MiB", 0), 0.5);
	ck_assert_double_ge(value_at("process threads", 1), 1);
	ck_assert_ptr_nonnull(find("process context switches/s"));
	ck_assert_ptr_nonnull(find("process read bytes/s"));
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(rates_stand_at_the_start_of_their_time_and_at_the_end),
	UNIT_TEST(the_last_sample_of_a_family_replaces_one_just_before),
	UNIT_TEST(threads_are_told_apart_and_summed_up),
	UNIT_TEST(a_thread_that_comes_later_or_takes_a_number_over_begins_at_0),
	UNIT_TEST(without_counts_of_the_scheduler_ticks_serve),
	UNIT_TEST(missing_files_make_no_lines),
	UNIT_TEST(damaged_files_are_left_out),
	UNIT_TEST(memory_is_unknown_after_the_first_thread_ended),
	UNIT_TEST(a_total_that_goes_back_is_no_use),
	UNIT_TEST(a_long_capture_keeps_a_bounded_number_of_samples),
	UNIT_TEST(a_late_sample_delays_the_next_one),
	UNIT_TEST(many_processes_share_the_memory),
	UNIT_TEST(only_the_busiest_threads_are_shown),
	UNIT_TEST(a_child_that_is_gone_in_mid_pass_keeps_its_processor_time),
	UNIT_TEST(the_real_proc_of_this_process_can_be_read),
	{NULL},
};

UNIT_MAIN("usage", .set_up = set_up, .tear_down = tear_down, .tests = tests)
