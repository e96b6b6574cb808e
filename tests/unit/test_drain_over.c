/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests a drain of rings that overwrite, while a flight recorder runs: the drained records are
 * whole and in order, and each entry that was overwritten before it was read is counted. The test
 * itself does what a thread may do in the middle of a visit. Linked with -Wl,--wrap of
 * ring_copy_take and ring_copy_finish.
 */
#include "daemon/pipeline/drain/drain.h"

#include <check.h>
#include <proftap/proftap.h>
#include <stdlib.h>

#include "daemon/target/ring_copy.h"
#include "tests/unit/drain_fixture.h"
#include "tests/unit/entry_fixture.h"
#include "tests/unit/unit.h"

#define MAX_SLOTS (1 + RECORD_MAX_EXTRA)

static uint32_t word;
static uint64_t n_written;
static uint32_t n_meanwhile;
static bool comes_after_the_copy;
static uint32_t n_short_meanwhile; /* entries of one slot, only after the first copy */

static void write_some(uint32_t n)
{
	while (n--)
		n_written += (uint64_t)entry_write(word, n_written, (uint32_t)rand() % MAX_SLOTS);
}

void __real_ring_copy_take(struct ring_copy *c, struct slot *to);
void __wrap_ring_copy_take(struct ring_copy *c, struct slot *to);
void __wrap_ring_copy_take(struct ring_copy *c, struct slot *to)
{
	if (!comes_after_the_copy)
		write_some(n_meanwhile);
	__real_ring_copy_take(c, to);
}

int __real_ring_copy_finish(struct ring_copy *c);
int __wrap_ring_copy_finish(struct ring_copy *c);
int __wrap_ring_copy_finish(struct ring_copy *c)
{
	if (comes_after_the_copy)
		write_some(n_meanwhile);
	for (; n_short_meanwhile; n_short_meanwhile--)
		n_written += (uint64_t)entry_write(word, n_written, 0);
	return __real_ring_copy_finish(c);
}

/* Makes a recorder that has run for a while. */
static void setup(void)
{
	fixture_open();
	drained.ring = fixture_ring(0);
	drained_init();
	fixture_overwrite(true);
	word = fixture_start(1);
	srand(4711);
	write_some(1000);
}

static void begin(void)
{
	int error = 0;

	drain_reset_rings(&drained.drain);
	drain_begin_over(&drained.drain, word, &error);
	ck_assert_int_eq(error, 0);
}

/* Checks the log of a thread that had written |n_before| entries. */
static void check_log(uint64_t n_before)
{
	const struct thread_log *log = drained.drain.logs[0];
	uint64_t next = n_before;
	uint64_t n = 0;

	for (size_t at = 0; at < log->n_slots; n++) {
		size_t size = 1 + record_n_extra(log->slots[at].word[0]);
		uint64_t ordinal = entry_get_ordinal(&log->slots[at]);

		ck_assert_uint_ge(ordinal, next);
		ck_assert_int_eq(entry_count(&log->slots[at], size, ordinal), 1);
		next = ordinal + 1;
		at += size;
	}
	ck_assert_uint_le(next, n_written);
	ck_assert_uint_eq(n + log->n_overwritten, n_written - n_before);
	ck_assert_uint_eq(log->ordinal, n_written);
	ck_assert_uint_eq(log->lost[LOSS_FULL], log->n_overwritten);
	ck_assert_uint_eq(drained.drain.n_broken, 0);
}

START_TEST(copies_records_after_its_begin)
{
	uint64_t n_before = n_written;

	begin();
	for (int i = 0; i < 200; i++) {
		write_some((uint32_t)rand() % 60);
		drained_visit();
	}
	check_log(n_before);
	ck_assert_uint_eq(drained.drain.logs[0]->n_overwritten, 0);
}
END_TEST

/* The recording goes on between the arming of a capture and its begin. */
START_TEST(leaves_out_records_before_its_begin)
{
	uint64_t n_before;
	int error = 0;

	drain_reset_rings(&drained.drain);
	write_some(20);
	n_before = n_written;
	drain_begin_over(&drained.drain, word, &error);
	write_some(20);
	drained_visit();
	check_log(n_before);
	ck_assert_uint_eq(drained.drain.logs[0]->n_overwritten, 0);
}
END_TEST

/*
 * Begins at each position in a segment, and at the end of a segment after
 * which nothing was written.
 */
START_TEST(begins_at_any_position)
{
	for (uint32_t i = 0; i < 2 * FIXTURE_SLOTS / RING_SEGMENTS; i++) {
		uint64_t n_before;

		n_written += (uint64_t)entry_write(word, n_written, 0);
		n_before = n_written;
		drain_deinit(&drained.drain);
		drained_init();
		begin();
		ck_assert_uint_eq(drained.drain.logs[0]->ordinal, n_before);
		write_some(600);
		drained_visit();
		check_log(n_before);
		while (fixture_head(0) % (FIXTURE_SLOTS / RING_SEGMENTS) !=
			i % (FIXTURE_SLOTS / RING_SEGMENTS))
			n_written += (uint64_t)entry_write(word, n_written, 0);
	}
}
END_TEST

START_TEST(counts_records_overwritten_before_a_visit)
{
	uint64_t n_before = n_written;

	begin();
	for (int i = 0; i < 300; i++) {
		write_some((uint32_t)rand() % 700);
		drained_visit();
		if (i % 50 == 0)
			check_log(n_before);
	}
	check_log(n_before);
	ck_assert_uint_gt(drained.drain.logs[0]->n_overwritten, 0);
	ck_assert_uint_lt(drained.drain.logs[0]->n_overwritten, n_written / 2);
}
END_TEST

START_TEST(counts_records_overwritten_during_the_copy)
{
	uint64_t n_before = n_written;

	comes_after_the_copy = _i;
	begin();
	for (uint32_t i = 0; i < 300; i++) {
		n_meanwhile = (uint32_t)rand() % 400;
		write_some(100);
		drained_visit();
	}
	n_meanwhile = 0;
	drained_finish();
	check_log(n_before);
	ck_assert_uint_gt(drained.drain.logs[0]->n_overwritten, 0);
	ck_assert_uint_gt(drained.drain.logs[0]->n_slots, FIXTURE_SLOTS);
}
END_TEST

/* If all slots, or nearly all, were overwritten, the same visit copies again. */
START_TEST(copies_again_if_all_slots_were_overwritten)
{
	uint64_t n_before = n_written;
	uint64_t n_at_visit;

	begin();
	for (uint32_t i = 0; i < 90; i++) {
		write_some(10);
		n_at_visit = n_written;
		n_short_meanwhile = FIXTURE_SLOTS - 300 + 7 * i;
		drained_visit();
		ck_assert_uint_ge(drained.drain.logs[0]->ordinal, n_at_visit);
	}
	drained_visit();
	check_log(n_before);
}
END_TEST

/* The recorder is switched on and off while it is drained. */
START_TEST(goes_on_when_the_mode_changes)
{
	bool overwrites = false;

	fixture_overwrite(false);
	drain_reset_rings(&drained.drain);
	word = fixture_start(1);
	drain_begin(&drained.drain, word);
	n_written = 0;
	for (int i = 0; i < 400; i++) {
		uint64_t n_full = fixture_lost(0, LOSS_FULL);

		write_some((uint32_t)rand() % 500);
		ck_assert(!overwrites || fixture_lost(0, LOSS_FULL) == n_full);
		drained_visit();
		if (rand() % 8 == 0)
			fixture_overwrite(overwrites = !overwrites);
		ck_assert_uint_eq(drained.drain.logs[0]->lost[LOSS_FULL],
			drained.drain.logs[0]->n_overwritten + fixture_lost(0, LOSS_FULL));
		atomic_store(&drained.ring->lost[LOSS_FULL], 0);
	}
	ck_assert_uint_gt(drained.drain.logs[0]->n_overwritten, 0);
	drained_visit();
	check_log(0);
}
END_TEST

START_TEST(tells_only_the_losses_of_its_own_time)
{
	atomic_store(&drained.ring->lost[LOSS_DEPTH], 5);
	atomic_store(&drained.ring->lost[LOSS_FULL], 7);
	begin();
	atomic_store(&drained.ring->lost[LOSS_DEPTH], 6);
	drained_finish();
	ck_assert_uint_eq(drained.drain.logs[0]->lost[LOSS_DEPTH], 1);
	ck_assert_uint_eq(drained.drain.logs[0]->lost[LOSS_FULL], 0);
	ck_assert_uint_eq(drained.drain.logs[0]->n_slots, 0);
}
END_TEST

/*
 * A thread without a log has entries of any length, of which some are overwritten before the server
 * reads them.
 */
START_TEST(counts_the_entries_of_a_thread_that_has_no_log)
{
	uint64_t begun;
	uint64_t head;

	write_some(30);
	drained.budget.max_bytes = 0;
	begin();
	begun = n_written;
	write_some(50);
	drained_visit();
	ck_assert_uint_eq(drained.drain.n_logs, 0);
	ck_assert_uint_eq(drained.drain.lost_memory, 50);
	head = fixture_head(0);
	while (fixture_head(0) < head + 2 * FIXTURE_SLOTS)
		write_some(1);
	drained_visit();
	drained_visit();
	ck_assert_uint_eq(drained.drain.lost_memory, n_written - begun);
}
END_TEST

/* Entries without memory are left out, and do not count as overwritten. */
START_TEST(leaves_out_records_without_memory)
{
	uint64_t before;
	uint64_t tail;

	begin();
	drained.budget.max_bytes = drained.budget.used_bytes;
	write_some(50);
	drained_visit();
	ck_assert_uint_eq(drained.drain.logs[0]->lost_memory, 50);
	ck_assert_uint_eq(drained.drain.logs[0]->n_overwritten, 0);
	tail = fixture_head(0);
	before = n_written;
	while (fixture_head(0) < tail + 2 * FIXTURE_SLOTS)
		write_some(1);
	drained_visit();
	ck_assert_uint_eq(drained.drain.logs[0]->lost_memory, 50 + n_written - before);
	ck_assert_uint_eq(drained.drain.logs[0]->n_overwritten, 0);
	drained.budget.max_bytes = 64u << 20;
	before = n_written;
	write_some(2000);
	drained_visit();
	check_log(before);
	ck_assert_uint_gt(drained.drain.logs[0]->n_overwritten, 0);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(copies_records_after_its_begin),
	UNIT_TEST(leaves_out_records_before_its_begin),
	UNIT_TEST(begins_at_any_position),
	UNIT_TEST(counts_records_overwritten_before_a_visit),
	UNIT_LOOP(counts_records_overwritten_during_the_copy, 2),
	UNIT_TEST(copies_again_if_all_slots_were_overwritten),
	UNIT_TEST(goes_on_when_the_mode_changes),
	UNIT_TEST(tells_only_the_losses_of_its_own_time),
	UNIT_TEST(leaves_out_records_without_memory),
	UNIT_TEST(counts_the_entries_of_a_thread_that_has_no_log),
	{NULL},
};

UNIT_MAIN("drain_over", .set_up = setup, .tear_down = drained_teardown, .tests = tests)
