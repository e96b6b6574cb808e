/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the table of environment variables. */
#include "base/env.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

START_TEST(reads_a_variable)
{
	setenv("PROFTAP_LOG", "debug", 1);
	ck_assert_str_eq(env_get(ENV_PROFTAP_LOG), "debug");
	setenv("PROFTAPD", "/a/proftapd", 1);
	ck_assert_str_eq(env_get(ENV_PROFTAPD), "/a/proftapd");
}
END_TEST

START_TEST(takes_empty_as_unset)
{
	setenv("PROFTAP_LOG", "", 1);
	ck_assert_ptr_null(env_get(ENV_PROFTAP_LOG));
	unsetenv("PROFTAP_LOG");
	ck_assert_ptr_null(env_get(ENV_PROFTAP_LOG));
}
END_TEST

/*
 * A path from the environment must not choose what a program with raised rights executes or writes.
 */
START_TEST(keeps_paths_from_set_uid_programs)
{
	ck_assert_int_eq(env_table[ENV_PROFTAPD].is_safe_in_setuid, 0);
	ck_assert_int_eq(env_table[ENV_PROFTAP_LIB].is_safe_in_setuid, 0);
	ck_assert_int_eq(env_table[ENV_PROFTAP_LOG_DIR].is_safe_in_setuid, 0);
	ck_assert_int_eq(env_table[ENV_PROFTAP_SERVER].is_safe_in_setuid, 0);
}
END_TEST

START_TEST(describes_every_variable_once)
{
	for (int i = 0; i < N_ENV; i++) {
		ck_assert_int_eq(strncmp(env_table[i].name, "PROFTAP", 7), 0);
		ck_assert_uint_gt(strlen(env_table[i].help), 0);
		for (int k = 0; k < i; k++)
			ck_assert_str_ne(env_table[i].name, env_table[k].name);
	}
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(reads_a_variable),
	UNIT_TEST(takes_empty_as_unset),
	UNIT_TEST(keeps_paths_from_set_uid_programs),
	UNIT_TEST(describes_every_variable_once),
	{NULL},
};

UNIT_MAIN("env", .tests = tests)
