/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the sizes of a trace's parts. A host daemon chooses them so that the parts of all its
 * streams fit into its memory.
 */
#include "daemon/serve/message/trace_part.h"

#include <check.h>
#include <stdlib.h>

#include "tests/unit/unit.h"

#define MAX_STREAMS 512
/* The parts of 64 streams, one each. While they are passed on, memory holds each twice. */
#define MAX_BYTES_OF_64 (14u << 20)

static size_t ask(unsigned n_streams)
{
	char word[TRACE_PART_WORD_BYTES];

	trace_part_write_word(n_streams, word);
	return trace_part_find_bytes(word);
}

START_TEST(parts_are_large_without_a_daemon)
{
	ck_assert_uint_eq(trace_part_find_bytes(""), TRACE_PART_BYTES);
}
END_TEST

START_TEST(parts_are_large_for_few_streams_and_small_for_many)
{
	size_t last = ask(1);
	size_t all = 0;

	ck_assert_uint_eq(last, TRACE_PART_BYTES);
	for (unsigned n = 1; n <= MAX_STREAMS; n++) {
		ck_assert_uint_le(ask(n), last);
		last = ask(n);
		all += n <= 64 ? last : 0;
	}
	ck_assert_uint_eq(last, TRACE_PART_PASSED_BYTES);
	ck_assert_uint_lt(all, MAX_BYTES_OF_64);
}
END_TEST

/*
 * Such values come from an older daemon, or from a client that names a program
 * although there is only one.
 */
START_TEST(parts_are_small_for_other_words)
{
	static const char *const words[] = {
		"here", "4242", "all", "part", "part=", "part=x", "part=-1x"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		ck_assert_uint_le(trace_part_find_bytes(words[i]), TRACE_PART_BYTES);
	ck_assert_uint_eq(trace_part_find_bytes("here"), TRACE_PART_PASSED_BYTES);
	ck_assert_uint_eq(trace_part_find_bytes("part="), TRACE_PART_PASSED_BYTES);
	ck_assert_uint_eq(trace_part_find_bytes("part=1"), TRACE_PART_PASSED_BYTES);
	ck_assert_uint_eq(trace_part_find_bytes("part=99999999999999999999"), TRACE_PART_BYTES);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(parts_are_large_without_a_daemon),
	UNIT_TEST(parts_are_large_for_few_streams_and_small_for_many),
	UNIT_TEST(parts_are_small_for_other_words),
	{NULL},
};

UNIT_MAIN("trace_part", .tests = tests)
