/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which host names mean the local machine on every machine. */
#include "base/local_name.h"

#include <check.h>

#include "tests/unit/unit.h"

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

static const struct unit_test tests[] = {
	UNIT_TEST(local_names_are_known),
	{NULL},
};

UNIT_MAIN("local name", .tests = tests)
