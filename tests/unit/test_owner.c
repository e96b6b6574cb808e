/* SPDX-License-Identifier: Apache-2.0 */
/* Tests finding the owner of a process in a fake /proc. */
#include "daemon/kernel/identity.h"

#include <check.h>
#include <errno.h>
#include <string.h>

#include "tests/unit/fake_root.h"
#include "tests/unit/unit.h"

static void expect(const char *uids, uid_t expected)
{
	uid_t uid = 77;
	char text[128] = "Name:\tUid: 5 5 5\nPid:\t42\nUid:\t";

	fake_root_write("/proc/42/status", strcat(strcat(text, uids), "\nGid:\t7\t7\t7\t7\n"));
	ck_assert_int_eq(owner_find_uid(fake_root, 42, &uid), 0);
	ck_assert_uint_eq(uid, expected);
}

START_TEST(a_process_of_one_user_is_theirs)
{
	expect("1000\t1000\t1000\t1000", 1000);
}
END_TEST

START_TEST(a_process_between_users_belongs_to_root)
{
	expect("1000\t0\t0\t0", 0);
	expect("1000\t1001\t1000\t1001", 0);
	expect("1000\t1000\t0\t1000", 0);
}
END_TEST

START_TEST(absent_process_changes_nothing)
{
	uid_t uid = 77;

	ck_assert_int_eq(owner_find_uid(fake_root, 43, &uid), -ENOENT);
	ck_assert_uint_eq(uid, 77);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(a_process_of_one_user_is_theirs),
	UNIT_TEST(a_process_between_users_belongs_to_root),
	UNIT_TEST(absent_process_changes_nothing),
	{NULL},
};

UNIT_MAIN("owner", .set_up = fake_root_make, .tear_down = fake_root_remove, .tests = tests)
