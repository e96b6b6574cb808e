/* SPDX-License-Identifier: Apache-2.0 */
#include "client/process/terminal.h"

#include <check.h>
#include <stdlib.h>

#include "tests/unit/unit.h"

static void expect(void (*write)(const char *, FILE *), const char *text, const char *shown)
{
	char *got = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&got, &n);

	ck_assert_ptr_nonnull(out);
	write(text, out);
	fclose(out);
	ck_assert_str_eq(got, shown);
	free(got);
}

static void write_warning(const char *text, FILE *out)
{
	terminal_write_line("warning", text, out);
}

START_TEST(text_is_clean)
{
	expect(terminal_write, "a\xc3\xa9\x1b[2J\xc2\x9b\n\xff.", "a\xc3\xa9?[2J???.");
	expect(write_warning, "gpu:\nnone", "  warning: gpu:?none\n");
}
END_TEST

START_TEST(ordinary_words_stand_as_they_are)
{
	expect(terminal_write_word, "logs/2026_11_21-a.b~@%+=:,", "logs/2026_11_21-a.b~@%+=:,");
}
END_TEST

START_TEST(other_words_are_quoted)
{
	expect(terminal_write_word, "my logs", "'my logs'");
	expect(terminal_write_word, "$(rm)", "'$(rm)'");
	expect(terminal_write_word, "it's", "'it'\\''s'");
	expect(terminal_write_word, "\xc3\xa9", "'\xc3\xa9'");
	expect(terminal_write_word, "~/logs", "'~/logs'");
	expect(terminal_write_word, "", "''");
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(text_is_clean),
	UNIT_TEST(ordinary_words_stand_as_they_are),
	UNIT_TEST(other_words_are_quoted),
	{NULL},
};

UNIT_MAIN("terminal", .tests = tests)
