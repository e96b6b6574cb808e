/* SPDX-License-Identifier: Apache-2.0 */
/* Tests finding parents and forks, in fake trees and in this process itself. */
#include "daemon/kernel/lineage.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/fake_root.h"
#include "tests/unit/unit.h"

#define FORKED 0x400040u
#define EXECED 0x400000u

static void add(pid_t pid, pid_t parent, char state, unsigned flags)
{
	char path[64];
	char text[256];

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	snprintf(text, sizeof text, "%d (a) R 1 (b) %c %d 1 1 0 -1 %u 31 0 0 0\n", (int)pid, state,
		(int)parent, flags);
	fake_root_write(path, text);
}

START_TEST(knows_the_parent_whatever_the_name)
{
	add(100, 7, 'S', FORKED);
	fake_root_write("/proc/101/stat", "no process");
	ck_assert_int_eq(lineage_get_parent(fake_root, 100), 7);
	ck_assert_int_eq(lineage_get_parent(fake_root, 101), 0);
	ck_assert_int_eq(lineage_get_parent(fake_root, 102), 0);
	ck_assert_int_eq(lineage_get_parent("", getpid()), getppid());
}
END_TEST

START_TEST(descends_over_generations)
{
	add(100, 7, 'S', EXECED);
	add(101, 100, 'S', EXECED);
	add(102, 101, 'S', FORKED);
	ck_assert(lineage_descends(fake_root, 102, 100));
	ck_assert(lineage_descends(fake_root, 101, 100));
	ck_assert(!lineage_descends(fake_root, 100, 100));
	ck_assert(!lineage_descends(fake_root, 100, 102));
	ck_assert(!lineage_descends(fake_root, 0, 100));
}
END_TEST

START_TEST(ends_where_parents_form_a_ring)
{
	add(100, 101, 'S', FORKED);
	add(101, 100, 'S', FORKED);
	ck_assert(!lineage_descends(fake_root, 100, 99));
	ck_assert_uint_eq(lineage_count_forks(fake_root, 99), 0);
}
END_TEST

START_TEST(counts_forks_and_their_forks)
{
	add(50, 1, 'S', FORKED);
	add(90, 101, 'S', FORKED); /* pids have wrapped around */
	add(100, 1, 'S', EXECED);
	add(101, 100, 'S', FORKED);
	add(102, 100, 'Z', FORKED);
	add(103, 100, 'S', EXECED);
	add(104, 103, 'S', FORKED); /* of another program */
	ck_assert_uint_eq(lineage_count_forks(fake_root, 100), 2);
	ck_assert_uint_eq(lineage_count_forks(fake_root, 4711), 0);
}
END_TEST

/* If the kernel lists a thread's children, no other process is read. */
START_TEST(asks_threads_for_their_children)
{
	add(100, 1, 'S', EXECED);
	add(101, 100, 'S', FORKED);
	fake_root_write("/proc/100/task/100/children", "");
	fake_root_write("/proc/100/task/105/children", "");
	ck_assert_uint_eq(lineage_count_forks(fake_root, 100), 0);
	fake_root_write("/proc/100/task/105/children", "101 ");
	ck_assert_uint_eq(lineage_count_forks(fake_root, 100), 1);
}
END_TEST

START_TEST(looks_at_all_processes_without_a_list_of_children)
{
	add(101, 100, 'S', FORKED);
	fake_root_write("/proc/100/task/100/children", "");
	fake_root_write("/proc/100/task/105/stat", "");
	ck_assert_uint_eq(lineage_count_forks(fake_root, 100), 1);
}
END_TEST

START_TEST(counts_real_forks)
{
	int before = (int)lineage_count_forks("", getpid());
	int hold[2];
	pid_t pid;

	ck_assert_int_eq(pipe(hold), 0);
	pid = fork();
	if (pid == 0) {
		close(hold[1]);
		_exit((int)read(hold[0], &pid, 1));
	}
	ck_assert_int_eq((int)lineage_count_forks("", getpid()), before + 1);
	ck_assert(lineage_descends("", pid, getpid()));
	close(hold[1]);
	waitpid(pid, NULL, 0);
	ck_assert_int_eq((int)lineage_count_forks("", getpid()), before);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(knows_the_parent_whatever_the_name),
	UNIT_TEST(descends_over_generations),
	UNIT_TEST(ends_where_parents_form_a_ring),
	UNIT_TEST(counts_forks_and_their_forks),
	UNIT_TEST(asks_threads_for_their_children),
	UNIT_TEST(looks_at_all_processes_without_a_list_of_children),
	UNIT_TEST(counts_real_forks),
	{NULL},
};

UNIT_MAIN("lineage", .set_up = fake_root_make, .tear_down = fake_root_remove, .tests = tests)
