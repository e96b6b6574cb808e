/* SPDX-License-Identifier: Apache-2.0 */
/* Tests foreign text on its way to a terminal: alone, and in an error for people. */
#include "base/printable.h"

#include <check.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "tests/unit/unit.h"

static void expect(const char *text, const char *clean)
{
	char copy[64];

	snprintf(copy, sizeof copy, "%s", text);
	printable_clean(copy);
	ck_assert_str_eq(copy, clean);
}

START_TEST(keeps_readable_characters)
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

START_TEST(replaces_characters_that_reorder_the_line)
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

static void expect_said(const char *said, const char *expected)
{
	ck_assert_str_eq(said, expected);
}

#define EXPECT_SAID(expected, ...)                                   \
	do {                                                         \
		struct diag d = DIAG_INIT;                           \
                                                                     \
		ck_assert_int_eq(diag_set(&d, -1, __VA_ARGS__), -1); \
		expect_said(d.text, expected);                       \
	} while (0)

START_TEST(marks_words_that_are_cut)
{
	char text[600];

	EXPECT_SAID("abc: no", "%.3s: no", "abc");
	EXPECT_SAID("abc…: no", "%.3s: no", "abcd");
	EXPECT_SAID("\"a…\"", "\"%.2s\"", "a\xc3\xa9");
	EXPECT_SAID("a\xc3\xa9", "%.3s", "a\xc3\xa9");
	EXPECT_SAID("…", "%.0s", "a");
	/* "%.*s" gives the word's length: no cut. */
	EXPECT_SAID("key is bad", "%.*s is bad", 3, "key=value");
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	memcpy(text + 505, "\xe2\x82\xac\xe2\x82\xac", 6);
	{
		struct diag d = DIAG_INIT;

		diag_set(&d, 0, "%s", text);
		ck_assert_uint_le(strlen(d.text), sizeof d.text - 1);
		ck_assert_uint_gt(strlen(d.text), sizeof d.text - 8);
		ck_assert_str_eq(d.text + strlen(d.text) - 6, "\xe2\x82\xac…");
		diag_set(&d, 0, "%.511s", text + 88);
		ck_assert_str_eq(d.text, text + 88);
	}
}
END_TEST

START_TEST(writes_numbers_as_printf_does)
{
	EXPECT_SAID("-7 7 c 100 %", "%d %u %c %d %%", -7, 7U, 'c', 100);
	EXPECT_SAID("-5000000000 5000000000 42", "%ld %llu %zu", -5000000000L, 5000000000ULL,
		(size_t)42);
	EXPECT_SAID("1.5 007 ff  3", "%.1f %03d %x %2d", 1.5, 7, 0xffU, 3);
	EXPECT_SAID("1e+20 0.25", "%g %g", 1e20, 0.25);
	/* An unknown conversion, and the text after it. */
	EXPECT_SAID("a -1 b   c|", "%s %td b %3s|", "a", (ptrdiff_t)-1, "c");
}
END_TEST

START_TEST(keeps_the_widths_of_words)
{
	EXPECT_SAID("[   ab] c", "[%5s] %s", "ab", "c");
	EXPECT_SAID("[ab   ] 7", "[%-5s] %d", "ab", 7);
	EXPECT_SAID("[   ab]", "[%5.2s]", "abcd");
	EXPECT_SAID("[   ab] c", "[%5.*s] %s", 2, "abcd", "c");
	EXPECT_SAID("1.50 c", "%.*f %s", 2, 1.5, "c");
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

static const struct unit_test tests[] = {
	UNIT_TEST(keeps_readable_characters),
	UNIT_TEST(replaces_control_characters),
	UNIT_TEST(replaces_characters_that_reorder_the_line),
	UNIT_TEST(replaces_bytes_of_no_character),
	UNIT_TEST(marks_words_that_are_cut),
	UNIT_TEST(writes_numbers_as_printf_does),
	UNIT_TEST(keeps_the_widths_of_words),
	UNIT_TEST(tells_the_length_of_a_character),
	UNIT_TEST(errors_are_one_clean_line),
	{NULL},
};

UNIT_MAIN("printable", .tests = tests)
