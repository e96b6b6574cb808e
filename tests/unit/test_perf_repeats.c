/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of finding records that two events of a thread wrote. */
#include "daemon/pipeline/samples/perf_repeats.h"

#include <check.h>

#include "daemon/pipeline/samples/perf_record.h"
#include "tests/unit/unit.h"

static struct perf_repeats repeats;

static void set_up(void)
{
	repeats.n_cpus = 4;
}

static void tear_down(void)
{
	perf_repeats_deinit(&repeats);
}

static bool is_repeated(pid_t tid, uint32_t cpu, uint64_t id)
{
	struct perf_record record = {.kind = PERF_KIND_SWITCH, .tid = tid, .cpu = cpu, .id = id};

	return perf_repeats_has(&repeats, &record);
}

static void start_thread(pid_t tid)
{
	struct perf_record record = {
		.kind = PERF_KIND_FORK, .tid = 1, .cpu = 3, .id = 1, .task.tid = tid};

	ck_assert(!perf_repeats_has(&repeats, &record));
}

START_TEST(one_event_repeats_nothing)
{
	for (int i = 0; i < 3; i++)
		ck_assert(!is_repeated(10, 0, 77));
}
END_TEST

START_TEST(the_first_event_counts)
{
	ck_assert(!is_repeated(10, 0, 77));
	ck_assert(is_repeated(10, 0, 78));
	ck_assert(!is_repeated(10, 0, 77));
	ck_assert(is_repeated(10, 0, 78));
	ck_assert(is_repeated(10, 0, 79));
}
END_TEST

/* A thread may have inherited an event of one processor only. */
START_TEST(each_processor_has_its_own)
{
	ck_assert(!is_repeated(10, 0, 77));
	ck_assert(!is_repeated(10, 1, 78));
	ck_assert(is_repeated(10, 0, 78));
	ck_assert(is_repeated(10, 1, 77));
}
END_TEST

START_TEST(each_thread_has_its_own)
{
	ck_assert(!is_repeated(10, 0, 77));
	ck_assert(!is_repeated(11, 0, 78));
	ck_assert(is_repeated(11, 0, 77));
}
END_TEST

START_TEST(a_new_thread_with_an_old_id_begins_anew)
{
	for (uint32_t cpu = 0; cpu < 4; cpu++)
		ck_assert(!is_repeated(10, cpu, 77 + cpu));
	start_thread(11);
	for (uint32_t cpu = 0; cpu < 4; cpu++)
		ck_assert(is_repeated(10, cpu, 90 + cpu));
	start_thread(10);
	for (uint32_t cpu = 0; cpu < 4; cpu++)
		ck_assert(!is_repeated(10, cpu, 90 + cpu));
	for (uint32_t cpu = 0; cpu < 4; cpu++)
		ck_assert(is_repeated(10, cpu, 77 + cpu));
}
END_TEST

START_TEST(unknown_processors_repeat_nothing)
{
	ck_assert(!is_repeated(10, 4, 77));
	ck_assert(!is_repeated(10, 4, 78));
	ck_assert(!is_repeated(10, UINT32_MAX, 79));
	ck_assert(!is_repeated(10, UINT32_MAX, 80));
}
END_TEST

/* The table is bounded: it forgets all when it is full, and goes on. */
START_TEST(many_threads_take_bounded_memory)
{
	int n_wrong = 0;

	for (pid_t tid = 1; tid <= 150000; tid++)
		n_wrong += is_repeated(tid, 0, 77) || !is_repeated(tid, 0, 78);
	ck_assert_int_eq(n_wrong, 0);
	ck_assert_uint_le(repeats.n_allocated, 1 << 17);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(one_event_repeats_nothing),
	UNIT_TEST(the_first_event_counts),
	UNIT_TEST(each_processor_has_its_own),
	UNIT_TEST(each_thread_has_its_own),
	UNIT_TEST(a_new_thread_with_an_old_id_begins_anew),
	UNIT_TEST(unknown_processors_repeat_nothing),
	UNIT_TEST(many_threads_take_bounded_memory),
	{NULL},
};

UNIT_MAIN("perf_repeats", .set_up = set_up, .tear_down = tear_down, .tests = tests)
