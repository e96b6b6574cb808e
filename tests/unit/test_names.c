/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/model/names.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

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

#define N_PAIRS 12

/*
 * Puts 16 bytes of one of two kinds. A multiplication modulo 2^64 followed by a shift cannot tell
 * them apart: the top bit of the first word has the same effect as a difference in the second word.
 */
static void put_pair(char *to, bool is_other)
{
	memset(to, 'a', 16);
	if (is_other) {
		to[7] ^= (char)0x80;
		to[12] ^= 0x04;
		to[15] ^= (char)0x80;
	}
}

static uint32_t find_longest_run(const struct names *names)
{
	uint32_t longest = 0;
	uint32_t run = 0;

	for (uint32_t i = 0; i < names->table.n_slots; i++) {
		run = names->table.slots[i].number ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest;
}

/*
 * The search for a name walks along a run of full slots, so a long run would make a
 * large file take very long.
 */
START_TEST(chosen_names_do_not_meet)
{
	struct names names = {0};
	char text[16 * N_PAIRS];

	for (uint32_t choice = 0; choice < 1u << N_PAIRS; choice++) {
		for (uint32_t i = 0; i < N_PAIRS; i++)
			put_pair(text + 16 * (size_t)i, choice >> i & 1);
		ck_assert_uint_eq(names_intern(&names, text, sizeof text), choice);
	}
	ck_assert_uint_lt(find_longest_run(&names), 1u << (N_PAIRS - 2));
	names_deinit(&names);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(numbers_in_order_of_first_use),
	UNIT_TEST(takes_only_the_given_bytes_and_stops_at_nul),
	UNIT_TEST(keeps_many_apart),
	UNIT_TEST(finds_without_adding),
	UNIT_TEST(is_empty_out_of_range),
	UNIT_TEST(chosen_names_do_not_meet),
	{NULL},
};

UNIT_MAIN("names", .tests = tests)
