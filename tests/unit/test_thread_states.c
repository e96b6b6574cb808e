/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the intervals that are made of context switches. Times are in microseconds. */
#include "daemon/pipeline/samples/thread_states.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/pipeline/samples/samples.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/unit.h"

#define PID 77
#define US (NS_PER_MS / 1000)

static struct thread_states *states;
static struct sampled_process process;

static void set_up(void)
{
	fake_root_make();
	states = thread_states_new(fake_root, PID);
	ck_assert_ptr_nonnull(states);
}

static void tear_down(void)
{
	thread_states_free(states);
	sampled_process_deinit(&process);
	fake_root_remove();
}

/* Adds a thread to /proc. */
static void add_thread(pid_t tid, char state, const char *syscall)
{
	char path[64];
	char text[256];

	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", PID, (int)tid);
	snprintf(text, sizeof text,
		"%d (a b) %c 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
		"0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		(int)tid, state);
	fake_root_write(path, text);
	snprintf(path, sizeof path, "/proc/%d/task/%d/wchan", PID, (int)tid);
	fake_root_write(path, syscall);
}

static void begin(int64_t at_us)
{
	ck_assert_int_eq(thread_states_begin(states, at_us * US), 0);
}

static void add_with_stack(pid_t tid, int64_t at_us, enum thread_change change, uint32_t stack)
{
	struct thread_moment m = {
		.at_ns = at_us * US,
		.tid = tid,
		.cpu = 3,
		.stack = stack,
		.change = change,
	};

	ck_assert_int_eq(thread_states_add(states, &m), 0);
}

static void add(pid_t tid, int64_t at_us, enum thread_change change)
{
	add_with_stack(tid, at_us, change, STACKS_NONE);
}

static void advance(int64_t until_us)
{
	ck_assert_int_eq(thread_states_advance(states, until_us * US, &process), 0);
}

static void cut(int64_t until_us)
{
	ck_assert_int_eq(thread_states_cut(states, until_us * US, &process), 0);
}

/* Checks that the intervals of a thread are those of |expected|: "running 1-5, blocked 5-9". */
static void check_intervals(pid_t tid, const char *expected)
{
	static const char *const names[] = {"running", "ready", "blocked"};
	char text[1024] = "";
	size_t n = 0;

	for (size_t i = 0; i < process.n_intervals; i++) {
		const struct thread_interval *v = &process.intervals[i];
		const char *reason = names_get(&process.stacks.texts, v->reason);

		if (process.threads[v->thread].tid != tid)
			continue;
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%s%s%s %lld-%lld",
			n ? ", " : "", names[v->state], reason[0] ? " in " : "", reason,
			(long long)(v->start_ns / US), (long long)(v->end_ns / US));
	}
	ck_assert_str_eq(text, expected);
}

START_TEST(a_thread_runs_and_waits)
{
	add(5, 10, THREAD_STARTED);
	add(5, 12, THREAD_GOT_CPU);
	add(5, 30, THREAD_WAS_BLOCKED);
	add(5, 50, THREAD_GOT_CPU);
	add(5, 60, THREAD_WAS_PREEMPTED);
	add(5, 65, THREAD_GOT_CPU);
	add(5, 70, THREAD_ENDED);
	advance(1000);
	check_intervals(5, "ready 10-12, running 12-30, blocked 30-50, running 50-60, ready 60-65, "
			   "running 65-70");
	ck_assert_uint_eq(process.intervals[1].cpu, 3);
	cut(1000);
	ck_assert_uint_eq(process.n_intervals, 6);
}
END_TEST

/* The rings of two processors are read one after the other. */
START_TEST(moments_may_come_in_any_order)
{
	add(5, 50, THREAD_GOT_CPU);
	add(5, 60, THREAD_WAS_BLOCKED);
	add(5, 10, THREAD_GOT_CPU);
	add(5, 30, THREAD_WAS_BLOCKED);
	add(5, 90, THREAD_GOT_CPU);
	advance(55);
	check_intervals(5, "running 10-30, blocked 30-50");
	advance(1000);
	check_intervals(5, "running 10-30, blocked 30-50, running 50-60, blocked 60-90");
}
END_TEST

/* A state that goes on at a cut is added up to it, and goes on behind it in the next part. */
START_TEST(a_cut_divides_intervals)
{
	struct sampled_process first;

	add(5, 10, THREAD_GOT_CPU);
	add_with_stack(5, 29, THREAD_GAVE_STACK, 4);
	add(5, 30, THREAD_WAS_BLOCKED);
	advance(100);
	cut(200);
	check_intervals(5, "running 10-30, blocked 30-100");
	ck_assert_uint_eq(process.intervals[1].stack, 4);
	ck_assert_uint_eq(process.intervals[1].n_waits, 1);
	first = process;
	process = (struct sampled_process){.pid = PID};
	add(5, 150, THREAD_GOT_CPU);
	advance(300);
	cut(300);
	check_intervals(5, "blocked 100-150, running 150-300");
	/* The stack is that of the first part's table. */
	ck_assert_uint_eq(process.intervals[0].stack, STACKS_NONE);
	sampled_process_deinit(&first);
}
END_TEST

/* Most waits have no stack; one with a stack stands for those before it. */
START_TEST(a_stack_stands_for_waits_without)
{
	for (int64_t at_us = 0; at_us < 300; at_us += 100) {
		add(5, at_us, THREAD_GOT_CPU);
		if (at_us == 200)
			add_with_stack(5, at_us + 49, THREAD_GAVE_STACK, 4);
		add(5, at_us + 50, THREAD_WAS_BLOCKED);
	}
	advance(400);
	cut(400);
	check_intervals(5, "running 0-50, blocked 50-100, running 100-150, blocked 150-200, "
			   "running 200-250, blocked 250-400");
	ck_assert_uint_eq(process.intervals[1].stack, STACKS_NONE);
	ck_assert_uint_eq(process.intervals[5].stack, 4);
	ck_assert_uint_eq(process.intervals[5].n_waits, 3);
}
END_TEST

START_TEST(proc_tells_what_went_on_before)
{
	add_thread(5, 'S', "futex_wait");
	add_thread(6, 'R', "0");
	add_thread(7, 'R', "0");
	add_thread(8, 'T', "do_signal_stop");
	add_thread(9, 'S', "0");
	begin(10);
	add(5, 40, THREAD_GOT_CPU);
	add(6, 30, THREAD_WAS_BLOCKED);
	add(7, 20, THREAD_GOT_CPU);
	advance(100);
	cut(100);
	check_intervals(5, "blocked in futex_wait 10-40, running 40-100");
	check_intervals(6, "running 10-30, blocked 30-100");
	check_intervals(7, "ready 10-20, running 20-100");
	check_intervals(8, "blocked in stopped 10-100");
	check_intervals(9, "blocked 10-100");
}
END_TEST

/* A thread without any moment has run all the time, or waited all the time. */
START_TEST(a_thread_without_moments_is_known)
{
	add_thread(5, 'S', "pipe_read");
	add_thread(6, 'R', "0");
	begin(1);
	advance(1000);
	cut(1000);
	check_intervals(5, "blocked in pipe_read 1-1000");
	check_intervals(6, "running 1-1000");
}
END_TEST

/* A record that was dropped leaves a hole, and not a wrong state. */
START_TEST(a_missing_moment_leaves_a_hole)
{
	add(5, 10, THREAD_GOT_CPU);
	add(5, 20, THREAD_WAS_BLOCKED);
	add(5, 50, THREAD_WAS_BLOCKED);
	add(5, 70, THREAD_GOT_CPU);
	add(5, 90, THREAD_GOT_CPU);
	add(5, 95, THREAD_WAS_PREEMPTED);
	advance(100);
	cut(100);
	check_intervals(5, "running 10-20, blocked 50-70, running 90-95, ready 95-100");
}
END_TEST

/* Above 50,000 moments in a second, waits of less than 20 us are parts of the run around them. */
START_TEST(many_short_waits_are_left_out)
{
	int64_t at_us = 0;
	uint64_t n = 0;

	add(5, 0, THREAD_GOT_CPU);
	for (; at_us < 900; at_us += 10, n++) {
		add(5, at_us + 5, THREAD_WAS_BLOCKED);
		add(5, at_us + 10, THREAD_GOT_CPU);
	}
	add(5, 930, THREAD_WAS_BLOCKED);
	add(5, 960, THREAD_GOT_CPU);
	begin(0);
	advance(1000);
	cut(1000);
	check_intervals(5, "running 0-930, blocked 930-960, running 960-1000");
	ck_assert_uint_eq(process.n_short, n);
}
END_TEST

START_TEST(few_short_waits_are_kept)
{
	begin(0);
	add(5, 0, THREAD_GOT_CPU);
	add(5, 5, THREAD_WAS_BLOCKED);
	add(5, 6, THREAD_GOT_CPU);
	advance(1000);
	cut(1000);
	check_intervals(5, "running 0-5, blocked 5-6, running 6-1000");
	ck_assert_uint_eq(process.n_short, 0);
}
END_TEST

START_TEST(another_program_ends_all_other_threads)
{
	add(5, 10, THREAD_GOT_CPU);
	add(6, 10, THREAD_GOT_CPU);
	add(5, 20, THREAD_EXECUTED);
	advance(100);
	cut(100);
	check_intervals(5, "running 10-100");
	check_intervals(6, "running 10-20");
}
END_TEST

/* Thousands of threads come and go, and ids come again. */
START_TEST(ended_threads_are_forgotten)
{
	for (pid_t tid = 1; tid <= 5000; tid++) {
		add(tid, tid * 10, THREAD_GOT_CPU);
		add(tid, tid * 10 + 5, THREAD_ENDED);
	}
	advance(60000);
	add(17, 70000, THREAD_STARTED);
	add(17, 70001, THREAD_GOT_CPU);
	add(17, 70004, THREAD_ENDED);
	advance(80000);
	cut(80000);
	ck_assert_uint_eq(process.n_intervals, 5002);
	check_intervals(17, "running 170-175, ready 70000-70001, running 70001-70004");
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(a_thread_runs_and_waits),
	UNIT_TEST(moments_may_come_in_any_order),
	UNIT_TEST(a_cut_divides_intervals),
	UNIT_TEST(a_stack_stands_for_waits_without),
	UNIT_TEST(proc_tells_what_went_on_before),
	UNIT_TEST(a_thread_without_moments_is_known),
	UNIT_TEST(a_missing_moment_leaves_a_hole),
	UNIT_TEST(many_short_waits_are_left_out),
	UNIT_TEST(few_short_waits_are_kept),
	UNIT_TEST(another_program_ends_all_other_threads),
	UNIT_TEST(ended_threads_are_forgotten),
	{NULL},
};

UNIT_MAIN("thread_states", .set_up = set_up, .tear_down = tear_down, .tests = tests)
