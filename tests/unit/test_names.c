/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/names.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t intern(struct names *names, const char *text)
{
	return names_intern(names, text, strlen(text));
}

START_TEST(numbers_in_order_of_first_use)
{
	struct names names = {0};

	ck_assert_uint_eq(intern(&names, "b"), 0);
	ck_assert_uint_eq(intern(&names, "a"), 1);
	ck_assert_uint_eq(intern(&names, ""), 2);
	ck_assert_uint_eq(intern(&names, "b"), 0);
	ck_assert_uint_eq(intern(&names, ""), 2);
	ck_assert_uint_eq(names.n_texts, 3);
	ck_assert_str_eq(names_get(&names, 1), "a");
	names_deinit(&names);
}
END_TEST

START_TEST(takes_only_the_given_bytes_and_stops_at_nul)
{
	struct names names = {0};

	ck_assert_uint_eq(names_intern(&names, "abcdef", 3), 0);
	ck_assert_uint_eq(names_intern(&names, "abc\0def", 7), 0);
	ck_assert_uint_eq(names_intern(&names, "ab", 2), 1);
	ck_assert_str_eq(names_get(&names, 0), "abc");
	names_deinit(&names);
}
END_TEST

START_TEST(keeps_many_apart)
{
	struct names names = {0};
	char text[32];

	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 50000; i++) {
			snprintf(text, sizeof text, "function number %u", i);
			ck_assert_uint_eq(intern(&names, text), i);
		}
	}
	ck_assert_str_eq(names_get(&names, 49999), "function number 49999");
	names_deinit(&names);
}
END_TEST

START_TEST(finds_without_adding)
{
	struct names names = {0};

	ck_assert_uint_eq(names_find(&names, "a"), NAMES_NONE);
	intern(&names, "a");
	ck_assert_uint_eq(names_find(&names, "a"), 0);
	ck_assert_uint_eq(names_find(&names, "b"), NAMES_NONE);
	ck_assert_uint_eq(names.n_texts, 1);
	names_deinit(&names);
}
END_TEST

START_TEST(is_empty_out_of_range)
{
	struct names names = {0};

	ck_assert_str_eq(names_get(&names, 0), "");
	ck_assert_str_eq(names_get(&names, NAMES_NONE), "");
	names_deinit(&names);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("names");
	TCase *tcase = tcase_create("names");
	SRunner *runner;

	tcase_add_test(tcase, numbers_in_order_of_first_use);
	tcase_add_test(tcase, takes_only_the_given_bytes_and_stops_at_nul);
	tcase_add_test(tcase, keeps_many_apart);
	tcase_add_test(tcase, finds_without_adding);
	tcase_add_test(tcase, is_empty_out_of_range);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
