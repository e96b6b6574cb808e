/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the division of a snapshot's memory, and how much of a ring is requested. */
#include "daemon/pipeline/drain/shares.h"

#include <check.h>
#include <proftap/proftap.h>

#include "daemon/pipeline/drain/ring_notes.h"
#include "daemon/pipeline/drain/thread_log.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/unit.h"

static struct shares shares;

/* The limit for a ring of |n_slots| and three threads that want |a|, |b| and |c| slots. */
static uint64_t find(uint64_t n_slots, uint64_t a, uint64_t b, uint64_t c)
{
	shares_deinit(&shares);
	ck_assert_int_eq(shares_add(&shares, a, 0), 0);
	ck_assert_int_eq(shares_add(&shares, b, 3), 0);
	ck_assert_int_eq(shares_add(&shares, c, 0), 0);
	return shares_find(&shares, n_slots * sizeof(struct slot) + shares.fixed_bytes);
}

START_TEST(shares_that_fit_are_not_cut)
{
	ck_assert_uint_eq(find(60, 10, 20, 30), UINT64_MAX);
	ck_assert_uint_eq(shares_find(&(struct shares){.n = 0}, 0), UINT64_MAX);
}
END_TEST

START_TEST(small_shares_leave_the_rest_to_the_others)
{
	ck_assert_uint_eq(find(59, 30, 10, 20), 29);
	ck_assert_uint_eq(find(40, 30, 10, 20), 15);
	ck_assert_uint_eq(find(30, 30, 30, 30), 10);
	ck_assert_uint_eq(find(8, 0, 30, 30), 4);
}
END_TEST

START_TEST(each_share_has_at_least_one_slot)
{
	ck_assert_uint_eq(find(0, 30, 10, 20), 1);
	ck_assert_uint_eq(shares_find(&shares, 0), 1);
}
END_TEST

START_TEST(open_spans_take_memory_from_the_shares)
{
	ck_assert_int_eq(shares_add(&shares, 0, 2), 0);
	ck_assert_uint_eq(shares.fixed_bytes, thread_log_count_bytes(2));
	ck_assert_uint_gt(thread_log_count_bytes(2), thread_log_count_bytes(0));
}
END_TEST

static uint64_t emit(unsigned n)
{
	while (n--)
		PTAP_INSTANT("point");
	return fixture_now();
}

/* The ring has wrapped around. */
START_TEST(recently_ended_records_of_a_ring_are_wanted)
{
	uint64_t head;
	uint64_t from;
	uint64_t position;

	fixture_open();
	fixture_overwrite(true);
	atomic_store(&fixture.arena->word, fixture_start(1));
	ck_assert_int_eq(ring_notes_open(&fixture.target, 1, 0), 0);
	from = emit(2 * FIXTURE_SLOTS + 77);
	head = fixture_head(0);
	emit((unsigned)_i * 17);
	position = ring_notes_find_reach(&fixture.target, 0, from);
	ck_assert_uint_le(position, head);
	ck_assert_uint_ge(position + FIXTURE_SLOTS / RING_SEGMENTS, head);
	ck_assert_uint_eq(ring_notes_find_reach(&fixture.target, 0, 0), 0);
	ck_assert_uint_eq(ring_notes_find_reach(&fixture.target, 0, 1), 0);
	ring_notes_close(&fixture.target);
	fixture_close();
}
END_TEST

static void tear_down(void)
{
	shares_deinit(&shares);
}

static const struct unit_test tests[] = {
	UNIT_TEST(shares_that_fit_are_not_cut),
	UNIT_TEST(small_shares_leave_the_rest_to_the_others),
	UNIT_TEST(each_share_has_at_least_one_slot),
	UNIT_TEST(open_spans_take_memory_from_the_shares),
	UNIT_LOOP(recently_ended_records_of_a_ring_are_wanted, 36),
	{NULL},
};

UNIT_MAIN("shares", .tear_down = tear_down, .tests = tests)
