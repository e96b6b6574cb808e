/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/serve/remote/remote_error.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/unit.h"

static struct remote_failures failures;

static void set_up(void)
{
	memset(&failures, 0, sizeof failures);
}

START_TEST(text_names_each_failure)
{
	ck_assert_str_eq(failures.text, "");
	remote_failures_add(&failures, "one");
	ck_assert_str_eq(failures.text, "one");
	remote_failures_add(&failures, "two");
	ck_assert_str_eq(failures.text, "one; two");
}
END_TEST

START_TEST(says_how_many_are_left_out)
{
	char one[200];
	char rest[32];
	unsigned n_named = 0;

	memset(one, 'x', sizeof one - 1);
	one[sizeof one - 1] = '\0';
	for (unsigned i = 0; i < 1000; i++)
		remote_failures_add(&failures, one);
	for (const char *p = failures.text; (p = strstr(p, one)); p += strlen(one))
		n_named++;
	ck_assert_uint_eq(n_named, (REMOTE_FAILURES_MAX_BYTES - 1) / (strlen(one) + 2));
	snprintf(rest, sizeof rest, "; and %u more", 1000 - n_named);
	ck_assert_str_eq(failures.text + n_named * (strlen(one) + 2) - 2, rest);
}
END_TEST

/* Failures are named in their order: after one without room, all others are only counted. */
START_TEST(a_short_failure_does_not_jump_the_queue)
{
	char large[REMOTE_FAILURES_MAX_BYTES];

	memset(large, 'x', sizeof large - 1);
	large[sizeof large - 1] = '\0';
	remote_failures_add(&failures, "one");
	remote_failures_add(&failures, large);
	remote_failures_add(&failures, "two");
	ck_assert_str_eq(failures.text, "one; and 2 more");
}
END_TEST

START_TEST(a_failure_without_room_is_counted)
{
	char large[REMOTE_FAILURES_MAX_BYTES];

	memset(large, 'x', sizeof large - 1);
	large[sizeof large - 1] = '\0';
	remote_failures_add(&failures, large);
	ck_assert_str_eq(failures.text, "and 1 more");
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(text_names_each_failure),
	UNIT_TEST(says_how_many_are_left_out),
	UNIT_TEST(a_short_failure_does_not_jump_the_queue),
	UNIT_TEST(a_failure_without_room_is_counted),
	{NULL},
};

UNIT_MAIN("failures", .set_up = set_up, .tests = tests)
