/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that rings without a thread are unmapped for good when the arena's server has ended. */
#define PTAP_IMPL_BUILDING
#include "lib/control/arena.h"

#include <check.h>
#include <errno.h>
#include <proftap/proftap.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/record/guest.h"
#include "lib/record/thread.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/unit.h"

static _Atomic uint8_t *get_state(uint32_t i)
{
	return &fixture.arena->ring_state[i];
}

static bool is_mapped(uint32_t i)
{
	unsigned char in_core;

	return !(mincore(fixture_ring(i), 1, &in_core) && errno == ENOMEM);
}

static void expect_mapped(uint32_t n)
{
	for (uint32_t i = 0; i < FIXTURE_RINGS; i++)
		ck_assert_msg(is_mapped(i) == (i < n), "ring %u of %u", i, n);
}

static void set_up(void)
{
	fixture_open();
	arena_rings_note(fixture.arena);
}

START_TEST(rings_behind_the_last_used_one_are_unmapped)
{
	atomic_store(get_state(1), RING_USED);
	arena_rings_shed(fixture.arena);
	expect_mapped(2);
	ck_assert_uint_eq(atomic_load(get_state(0)), RING_FREE);
	ck_assert_uint_eq(atomic_load(get_state(1)), RING_USED);
	for (uint32_t i = 2; i < FIXTURE_RINGS; i++)
		ck_assert_uint_eq(atomic_load(get_state(i)), RING_BAD);
}
END_TEST

START_TEST(unused_rings_are_all_shed)
{
	atomic_store(get_state(FIXTURE_RINGS - 1), RING_BAD);
	arena_rings_shed(fixture.arena);
	expect_mapped(0);
}
END_TEST

/* The thread found the arena before the server's end, and looks for a ring after that end. */
START_TEST(a_late_thread_finds_no_ring)
{
	uint32_t word = fixture_start(1);

	arena_rings_shed(fixture.arena);
	ck_assert_ptr_null(thread_enter(&thread_self, word));
	ck_assert_uint_eq(atomic_load(&fixture.arena->lost_no_ring), 1);
}
END_TEST

/* The second time, other memory may be at these addresses. */
START_TEST(rings_are_shed_once)
{
	arena_rings_shed(fixture.arena);
	ck_assert_ptr_eq(mmap(fixture_ring(0), 4096, PROT_READ,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
		fixture_ring(0));
	arena_rings_shed(fixture.arena);
	ck_assert_int_eq(is_mapped(0), 1);
}
END_TEST

/* A forked child has no arena, or one of its own, and must leave the parent's rings alone. */
START_TEST(rings_of_another_arena_stay)
{
	struct arena *own = mmap(NULL, arena_size_bytes(1, ARENA_MIN_RING_BYTES),
		PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(own, MAP_FAILED);
	arena_rings_shed(NULL);
	arena_rings_shed(own);
	expect_mapped(FIXTURE_RINGS);
	ck_assert_uint_eq(atomic_load(get_state(0)), RING_FREE);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(rings_behind_the_last_used_one_are_unmapped),
	UNIT_TEST(unused_rings_are_all_shed),
	UNIT_TEST(a_late_thread_finds_no_ring),
	UNIT_TEST(rings_are_shed_once),
	UNIT_TEST(rings_of_another_arena_stay),
	{NULL},
};

UNIT_MAIN("arena_rings", .set_up = set_up, .tear_down = fixture_close, .tests = tests)
