/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the warnings of collectors, which share a buffer of limited size. */
#include "lib/collect/run.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/wire/arena.h"
#include "tests/unit/unit.h"

static struct arena_collect collect;
static struct collect_warnings warnings;

static void set_up(void)
{
	memset(&collect, 0, sizeof collect);
	warnings = (struct collect_warnings){.to = &collect};
}

/* The text so far, terminated. */
static const char *text(void)
{
	static char all[sizeof collect.said + 1];
	uint32_t n = atomic_load(&collect.n_said);

	ck_assert_uint_le(n, sizeof collect.said);
	memcpy(all, collect.said, n);
	all[n] = '\0';
	return all;
}

START_TEST(each_warning_is_a_line_with_its_collector)
{
	collect_warn(&warnings, "cuda", "no driver");
	collect_warn(&warnings, NULL, "no thread");
	collect_warn(&warnings, "cuda", "");
	collect_warn(&warnings, "cuda", "two\nlines");
	ck_assert_str_eq(text(), "cuda: no driver\nno thread\ncuda: two lines\n");
}
END_TEST

START_TEST(equal_warnings_are_reported_once)
{
	for (int i = 0; i < 100; i++) {
		collect_warn(&warnings, "cuda", "no");
		collect_warn(&warnings, "cuda", "no driver");
		collect_warn(&warnings, NULL, "no");
	}
	ck_assert_str_eq(text(), "cuda: no\ncuda: no driver\nno\n");
}
END_TEST

START_TEST(a_long_warning_is_cut)
{
	char *sentence = malloc(4096);

	memset(sentence, 'x', 4095);
	sentence[4095] = '\0';
	collect_warn(&warnings, "cuda", sentence);
	ck_assert_uint_lt(strlen(text()), 1200);
	ck_assert_int_eq(text()[strlen(text()) - 1], '\n');
	free(sentence);
}
END_TEST

START_TEST(sentences_that_do_not_fit_are_counted)
{
	/* With the collector's name and a line end it has 63 bytes. */
	char sentence[64];

	for (int i = 0; i < 100; i++) {
		ck_assert_int_eq(
			sprintf(sentence,
				"this is a sentence of fifty-six bytes, the one numbered %02d", i),
			58);
		collect_warn(&warnings, "cuda", sentence + 2);
	}
	ck_assert_ptr_nonnull(strstr(text(), "\nfurther messages left out: 69\n"));
	/* Later sentences are counted, too, even a short one that would fit. */
	collect_warn(&warnings, NULL, "x");
	ck_assert_ptr_nonnull(strstr(text(), "\nfurther messages left out: 70\n"));
	ck_assert_ptr_null(strstr(text(), "\nfurther messages left out: 69\n"));
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(each_warning_is_a_line_with_its_collector),
	UNIT_TEST(equal_warnings_are_reported_once),
	UNIT_TEST(a_long_warning_is_cut),
	UNIT_TEST(sentences_that_do_not_fit_are_counted),
	{NULL},
};

UNIT_MAIN("warnings", .set_up = set_up, .tests = tests)
