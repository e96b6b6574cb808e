/* SPDX-License-Identifier: Apache-2.0 */
/* Names that are this machine's on every machine. */
#include "base/local_name.h"

#include <check.h>

START_TEST(local_names_are_known)
{
	static const char *const local[] = {
		"localhost", "LocalHost", "train.localhost", "a.b.localhost", "4242.LOCALHOST"};
	static const char *const other[] = {"", ".", "localhos", "alocalhost", ".localhost",
		"localhost.example", "localhost.", "train.localhost.", "127.0.0.1", "train"};

	for (size_t i = 0; i < sizeof local / sizeof *local; i++)
		ck_assert_msg(local_name_is(local[i]), "%s", local[i]);
	for (size_t i = 0; i < sizeof other / sizeof *other; i++)
		ck_assert_msg(!local_name_is(other[i]), "%s", other[i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("local name");
	TCase *tests = tcase_create("local name");
	SRunner *runner = srunner_create(suite);

	tcase_add_test(tests, local_names_are_known);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
