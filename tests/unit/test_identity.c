/* SPDX-License-Identifier: Apache-2.0 */
/* Tests reading a process's identity from a fake /proc, and taking it on. */
#include "daemon/kernel/identity.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/fake_root.h"
#include "tests/unit/unit.h"

#define PID 42
#define NOBODY 65534

static struct identity found;

static int find(const char *uids, const char *gids, const char *groups)
{
	static char text[8192];

	snprintf(text, sizeof text,
		"Name:\tUid:\t5\t5\t5\nPid:\t42\nUid:\t%s\nGid:\t%s\nFDSize:\t64\nGroups:\t%s\nNStgid:\t42\n",
		uids, gids, groups);
	fake_root_write("/proc/42/status", text);
	return identity_find(fake_root, PID, &found);
}

START_TEST(has_a_user_a_group_and_groups)
{
	ck_assert_int_eq(find("7\t7\t7\t7", "8\t8\t8\t8", "4 24 1000 "), 0);
	ck_assert_uint_eq(found.uid, 7);
	ck_assert_uint_eq(found.gid, 8);
	ck_assert_uint_eq(found.n_groups, 3);
	ck_assert_uint_eq(found.groups[0], 4);
	ck_assert_uint_eq(found.groups[2], 1000);
	ck_assert_int_eq(find("7\t7\t7\t7", "8\t8\t8\t8", " "), 0);
	ck_assert_uint_eq(found.n_groups, 0);
}
END_TEST

START_TEST(a_process_between_two_users_is_refused)
{
	ck_assert_int_eq(find("7\t0\t7\t7", "8\t8\t8\t8", " "), -EXDEV);
	ck_assert_int_eq(find("7\t7\t0\t7", "8\t8\t8\t8", " "), -EXDEV);
	ck_assert_int_eq(find("7\t7\t7\t7", "8\t5\t8\t8", " "), -EXDEV);
}
END_TEST

START_TEST(too_many_groups_are_an_error)
{
	char groups[8192] = "";

	for (int i = 0; i < IDENTITY_MAX_GROUPS; i++)
		strcat(groups, "100 ");
	ck_assert_int_eq(find("7\t7\t7\t7", "8\t8\t8\t8", groups), 0);
	ck_assert_uint_eq(found.n_groups, IDENTITY_MAX_GROUPS);
	strcat(groups, "100 ");
	ck_assert_int_eq(find("7\t7\t7\t7", "8\t8\t8\t8", groups), -E2BIG);
}
END_TEST

START_TEST(absent_or_truncated_status_is_an_error)
{
	ck_assert_int_eq(identity_find(fake_root, PID, &found), -ENOENT);
	fake_root_write(
		"/proc/42/status", "Name:\tx\nUid:\t7\t7\t7\t7\nGid:\t8\t8\t8\t8\nGroups:\t1 2 3");
	ck_assert_int_eq(identity_find(fake_root, PID, &found), -E2BIG);
	fake_root_write("/proc/42/status", "Name:\tx\nUid:\t7\t7\t7\t7\nGid:\t8\t8\t8\t8\n");
	ck_assert_int_eq(identity_find(fake_root, PID, &found), -ENOENT);
}
END_TEST

/* Runs |check| in a child. Returns 0 when it was right. */
static int try_in_child(const struct identity *i, int expected)
{
	pid_t pid = fork();
	struct identity self;
	int status;

	if (pid == 0) {
		int r = identity_assume(i);

		if (r != expected)
			_exit(1);
		if (r)
			_exit(0);
		_exit(identity_find("", getpid(), &self) || self.uid != i->uid ||
					self.gid != i->gid || self.n_groups != i->n_groups ||
					prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 ||
					setresuid(0, 0, 0) == 0
				? 2
				: 0);
	}
	waitpid(pid, &status, 0);
	return status;
}

START_TEST(root_becomes_another_for_good)
{
	const struct identity nobody = {NOBODY, NOBODY, 2, {7, 8}};

	if (geteuid())
		return;
	ck_assert_int_eq(try_in_child(&nobody, 0), 0);
}
END_TEST

START_TEST(identity_stays_without_root)
{
	struct identity self;
	struct identity other;
	pid_t pid = fork();
	int status;

	if (pid) {
		waitpid(pid, &status, 0);
		ck_assert_int_eq(status, 0);
		return;
	}
	if (geteuid() == 0 &&
		(setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY)))
		_exit(1);
	if (identity_find("", getpid(), &self))
		_exit(2);
	other = self;
	other.uid++;
	_exit(try_in_child(&other, -EPERM) || try_in_child(&self, 0) ? 3 : 0);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(has_a_user_a_group_and_groups),
	UNIT_TEST(a_process_between_two_users_is_refused),
	UNIT_TEST(too_many_groups_are_an_error),
	UNIT_TEST(absent_or_truncated_status_is_an_error),
	UNIT_TEST(root_becomes_another_for_good),
	UNIT_TEST(identity_stays_without_root),
	{NULL},
};

UNIT_MAIN("identity", .set_up = fake_root_make, .tear_down = fake_root_remove, .tests = tests)
