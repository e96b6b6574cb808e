/* SPDX-License-Identifier: Apache-2.0 */
/* The table of environment variables. */
#include "base/env.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

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

/* A path from the environment must not choose what a program with raised rights executes or writes. */
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

int main(void)
{
	Suite *suite = suite_create("env");
	TCase *tcase = tcase_create("env");
	SRunner *runner;

	tcase_add_test(tcase, reads_a_variable);
	tcase_add_test(tcase, takes_empty_as_unset);
	tcase_add_test(tcase, keeps_paths_from_set_uid_programs);
	tcase_add_test(tcase, describes_every_variable_once);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
