/* SPDX-License-Identifier: Apache-2.0 */
/* The control thread and its server's death. */
#include <check.h>
#include <linux/futex.h>
#include <unistd.h>

#include "base/futex.h"
#include "lib/control.h"
#include "lib/record/guest.h"
#include "tests/unit/guest_fixture.h"

#define PATIENCE_MS 10000
#define SERVER_TID 4242u

static void expect_end(void)
{
	int ms = 0;

	while (atomic_load(&guest_get()->is_serving) && ms++ < PATIENCE_MS)
		usleep(1000);
	ck_assert_uint_eq(atomic_load(&guest_get()->is_serving), 0);
	control_stop();
}

static void set_owner(uint32_t word)
{
	atomic_store(&fixture.arena->owner, word);
	futex_wake(&fixture.arena->owner, 1);
}

START_TEST(sees_the_server_die)
{
	ck_assert_int_eq(control_start(), 0);
	set_owner(SERVER_TID | ARENA_WAITERS);
	usleep(10000);
	ck_assert_uint_eq(atomic_load(&guest_get()->is_serving), 1);
	set_owner(FUTEX_OWNER_DIED | ARENA_WAITERS);
	expect_end();
}
END_TEST

/* On a busy machine a server can live and die before this thread runs for the first time. */
START_TEST(sees_a_server_that_died_before_it_looked)
{
	set_owner(FUTEX_OWNER_DIED | ARENA_WAITERS);
	ck_assert_int_eq(control_start(), 0);
	expect_end();
}
END_TEST

static void set_up(void)
{
	fixture_open();
	atomic_store(&guest_get()->is_serving, 1);
}

int main(void)
{
	Suite *suite = suite_create("control");
	SRunner *runner = srunner_create(suite);
	TCase *tests = tcase_create("death");

	tcase_add_checked_fixture(tests, set_up, fixture_close);
	tcase_set_timeout(tests, 3 * PATIENCE_MS / 1000);
	tcase_add_test(tests, sees_the_server_die);
	tcase_add_test(tests, sees_a_server_that_died_before_it_looked);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
