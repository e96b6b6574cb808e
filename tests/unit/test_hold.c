/* SPDX-License-Identifier: Apache-2.0 */
/* How long what a dead program left is held, and how often it is looked whether it still is to be. */
#include "daemon/session/hold.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/kernel/socket_file.h"
#include "daemon/target/target.h"

#define BEGIN_NS (77 * NS_PER_S)
#define END_NS (BEGIN_NS + 300 * NS_PER_S)

static struct target target; /* nobody knows how it has ended */
static struct socket_file way;
static struct hold hold;

static void set_up(void)
{
	int fd;

	snprintf(way.path, sizeof way.path, "/tmp/proftap-hold-XXXXXX");
	fd = mkstemp(way.path);
	ck_assert_int_ge(fd, 0);
	close(fd);
	socket_file_note(&way);
	hold_init(&hold, &target, &way, 0, BEGIN_NS);
}

static void tear_down(void)
{
	unlink(way.path);
}

START_TEST(five_minutes)
{
	ck_assert_int_eq(hold_is_over(&hold, BEGIN_NS), 0);
	ck_assert_int_eq(hold_is_over(&hold, END_NS - 1), 0);
	ck_assert_int_eq(hold_is_over(&hold, END_NS), 1);
}
END_TEST

START_TEST(as_long_as_there_is_a_way)
{
	unlink(way.path);
	ck_assert_int_eq(hold_is_over(&hold, BEGIN_NS), 1);
	hold_init(&hold, &target, NULL, 0, BEGIN_NS);
	ck_assert_int_eq(hold_is_over(&hold, BEGIN_NS), 1);
}
END_TEST

START_TEST(looks_are_ever_more_seldom_until_the_end)
{
	int64_t at_ns = BEGIN_NS;
	int64_t last_ns = 0;

	while (at_ns < END_NS) {
		int64_t due_ns = hold_get_due(&hold, at_ns);

		ck_assert_int_gt(due_ns, at_ns);
		ck_assert_int_le(due_ns - at_ns, NS_PER_S);
		ck_assert(due_ns - at_ns >= last_ns || due_ns == END_NS);
		last_ns = due_ns - at_ns;
		at_ns = due_ns;
	}
	ck_assert_int_eq(at_ns, END_NS);
}
END_TEST

START_TEST(the_first_look_is_soon)
{
	ck_assert_int_eq(hold_get_due(&hold, BEGIN_NS), BEGIN_NS + 10 * NS_PER_MS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hold");
	TCase *tcase = tcase_create("hold");
	SRunner *runner;

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, five_minutes);
	tcase_add_test(tcase, as_long_as_there_is_a_way);
	tcase_add_test(tcase, looks_are_ever_more_seldom_until_the_end);
	tcase_add_test(tcase, the_first_look_is_soon);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
