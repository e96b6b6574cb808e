/* SPDX-License-Identifier: Apache-2.0 */
/* Foreign text on its way to a terminal: alone, and in an error for people. */
#include "base/printable.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"

static void expect(const char *text, const char *clean)
{
	char copy[64];

	snprintf(copy, sizeof copy, "%s", text);
	printable_clean(copy);
	ck_assert_str_eq(copy, clean);
}

START_TEST(keeps_what_can_be_read)
{
	expect("", "");
	expect("plain ~", "plain ~");
	expect("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
	expect("\xc2\xa0", "\xc2\xa0");
}
END_TEST

START_TEST(replaces_control_characters)
{
	expect("a\x1b[31mb", "a?[31mb");
	expect("two\r\nlines\t", "two??lines?");
	expect("\x7f", "?");
	expect("\xc2\x80\xc2\x9b\xc2\x9f.", "???.");
}
END_TEST

START_TEST(replaces_what_reorders_the_line)
{
	expect("a\xe2\x80\xaa\xe2\x80\xae.", "a??.");
	expect("\xe2\x81\xa6\xe2\x81\xa9", "??");
	expect("\xe2\x80\xa9\xe2\x80\xaf", "\xe2\x80\xa9\xe2\x80\xaf");
	expect("\xe2\x81\xa5\xe2\x81\xaa", "\xe2\x81\xa5\xe2\x81\xaa");
}
END_TEST

START_TEST(replaces_bytes_of_no_character)
{
	expect("\x9b"
	       "31m\xff",
		"?31m?");
	expect("cut\xe2\x82", "cut??");
	expect("\xc0\x9b", "??");
}
END_TEST

START_TEST(tells_the_length_of_a_character)
{
	ck_assert_uint_eq(printable_length("x", 0), 0);
	ck_assert_uint_eq(printable_length("x", 1), 1);
	ck_assert_uint_eq(printable_length("\xc3\xa9", 1), 0);
	ck_assert_uint_eq(printable_length("\xc3\xa9", 2), 2);
	ck_assert_uint_eq(printable_length("\xc2\x9b", 2), 0);
}
END_TEST

START_TEST(errors_are_one_clean_line)
{
	struct diag d = DIAG_INIT;

	ck_assert_int_eq(
		diag_set(&d, -EPROTO, "a:1: it said %s", "\x1b]0;x\x07\nno\xc2\x85"), -EPROTO);
	ck_assert_str_eq(d.text, "a:1: it said ?]0;x??no?");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("printable");
	TCase *tests = tcase_create("printable");
	SRunner *runner = srunner_create(suite);

	tcase_add_test(tests, keeps_what_can_be_read);
	tcase_add_test(tests, replaces_control_characters);
	tcase_add_test(tests, replaces_what_reorders_the_line);
	tcase_add_test(tests, replaces_bytes_of_no_character);
	tcase_add_test(tests, tells_the_length_of_a_character);
	tcase_add_test(tests, errors_are_one_clean_line);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
