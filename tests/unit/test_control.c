/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the control thread, and the death of its server. */
#include <check.h>
#include <linux/futex.h>
#include <unistd.h>

#include "base/futex.h"
#include "lib/control/control.h"
#include "lib/record/guest.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/unit.h"

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

/* On a busy machine a server can start and die before this thread runs for the first time. */
START_TEST(sees_a_server_that_died_before_it_looked)
{
	set_owner(FUTEX_OWNER_DIED | ARENA_WAITERS);
	ck_assert_int_eq(control_start(), 0);
	expect_end();
}
END_TEST

/* Gives a command like a live server. Returns the word that is recorded. */
static uint32_t command(uint32_t op, uint32_t arg)
{
	uint32_t number = atomic_load(&fixture.arena->command) + 1;
	int ms = 0;

	atomic_store(&fixture.arena->op, op);
	atomic_store(&fixture.arena->arg, arg);
	atomic_store(&fixture.arena->command, number);
	set_owner(atomic_load(&fixture.arena->owner) ^ ARENA_TOGGLE);
	while (atomic_load(&fixture.arena->ack) != number && ms++ < PATIENCE_MS)
		usleep(1000);
	ck_assert_uint_eq(atomic_load(&fixture.arena->ack), number);
	return atomic_load(&guest_get()->word);
}

/*
 * A capture at level 2 begins over a recorder at level 1, and ends. The recorder ends,
 * and another capture begins.
 */
START_TEST(a_change_of_level_continues_the_recording)
{
	uint32_t recorder;

	set_owner(SERVER_TID | ARENA_WAITERS);
	ck_assert_int_eq(control_start(), 0);
	/* No recording is running, so this begins a new one. */
	recorder = command(ARENA_OP_START, 1 | ARENA_START_OVERWRITES | ARENA_START_GOES_ON);
	ck_assert_uint_eq(recorder & 3, 1);
	ck_assert_uint_ne(recorder >> 2, 0);
	ck_assert_uint_eq(atomic_load(&fixture.arena->word), recorder);
	ck_assert_uint_eq(atomic_load(&guest_get()->overwrites), 1);
	ck_assert_uint_eq(command(ARENA_OP_START, 2 | ARENA_START_OVERWRITES | ARENA_START_GOES_ON),
		(recorder & ~3u) | 2);
	ck_assert_uint_eq(atomic_load(&guest_get()->overwrites), 1);
	ck_assert_uint_eq(command(ARENA_OP_START, 2 | ARENA_START_GOES_ON), (recorder & ~3u) | 2);
	ck_assert_uint_eq(atomic_load(&guest_get()->overwrites), 0);
	ck_assert_uint_ne(command(ARENA_OP_START, 2) >> 2, recorder >> 2);
	ck_assert_uint_eq(command(ARENA_OP_STOP, 0), 0);
	control_stop();
}
END_TEST

static void set_up(void)
{
	fixture_open();
	atomic_store(&guest_get()->is_serving, 1);
}

static const struct unit_test tests[] = {
	UNIT_TEST(sees_the_server_die),
	UNIT_TEST(sees_a_server_that_died_before_it_looked),
	UNIT_TEST(a_change_of_level_continues_the_recording),
	{NULL},
};

UNIT_MAIN("control", .set_up = set_up, .tear_down = fixture_close,
	.timeout_s = 3 * PATIENCE_MS / 1000, .tests = tests)
