/* SPDX-License-Identifier: Apache-2.0 */
/* Tests breaking sentences into lines. */
#include "base/line_break.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

static void expect(const char *text, size_t width, const char *lines)
{
	char *printed = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&printed, &n);

	line_break_print(out, "# ", text, width);
	fclose(out);
	ck_assert_str_eq(printed, lines);
	free(printed);
}

START_TEST(lines_end_at_blanks)
{
	expect("", 10, "");
	expect("one", 10, "# one\n");
	expect("one two three", 10, "# one two\n# three\n");
	expect("one two three", 9, "# one two\n# three\n");
	expect("one two three", 8, "# one\n# two\n# three\n");
}
END_TEST

START_TEST(long_words_stand_over_the_end)
{
	expect("a /a/long/path b", 6, "# a\n# /a/long/path\n# b\n");
	expect("/a/long/path", 6, "# /a/long/path\n");
}
END_TEST

START_TEST(columns_are_characters)
{
	expect("αβγ δεζ ηθι", 9, "# αβγ δεζ\n# ηθι\n");
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(lines_end_at_blanks),
	UNIT_TEST(long_words_stand_over_the_end),
	UNIT_TEST(columns_are_characters),
	{NULL},
};

UNIT_MAIN("line break", .tests = tests)
