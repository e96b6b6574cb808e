/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests pictures of a ring that overwrites: kept entries are whole, and all others are counted. The
 * test itself does what a thread may do while the picture is taken. Linked with -Wl,--wrap of
 * ring_copy_begin, ring_copy_take and ring_copy_finish.
 */
#include "daemon/pipeline/drain/ring_picture.h"

#include <check.h>
#include <proftap/proftap.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/target/ring_copy.h"
#include "tests/unit/entry_fixture.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/picture_fixture.h"
#include "tests/unit/unit.h"

#define MAX_SLOTS (1 + RECORD_MAX_EXTRA)

/* The recording, and the number of entries that the one thread has written. */
static uint32_t word;
static uint64_t n_written;

/*
 * These run while a picture is taken: after the open stack was read, before the slots are copied,
 * and after the slots were copied.
 */
static void (*before_head)(void);
static void (*before_copy)(void);
static void (*after_copy)(void);

int __real_ring_copy_begin(
	struct ring_copy *c, const struct target *t, uint32_t i, struct ring_place from);
int __wrap_ring_copy_begin(
	struct ring_copy *c, const struct target *t, uint32_t i, struct ring_place from);
int __wrap_ring_copy_begin(
	struct ring_copy *c, const struct target *t, uint32_t i, struct ring_place from)
{
	if (before_head)
		before_head();
	return __real_ring_copy_begin(c, t, i, from);
}

void __real_ring_copy_take(struct ring_copy *c, struct slot *to);
void __wrap_ring_copy_take(struct ring_copy *c, struct slot *to);
void __wrap_ring_copy_take(struct ring_copy *c, struct slot *to)
{
	if (before_copy)
		before_copy();
	__real_ring_copy_take(c, to);
}

int __real_ring_copy_finish(struct ring_copy *c);
int __wrap_ring_copy_finish(struct ring_copy *c);
int __wrap_ring_copy_finish(struct ring_copy *c)
{
	if (after_copy)
		after_copy();
	return __real_ring_copy_finish(c);
}

static void start(bool overwrites)
{
	fixture_overwrite(overwrites);
	word = fixture_start(1);
	entry_enter(word);
	n_written = 0;
}

static void setup(void)
{
	fixture_open();
	start(true);
}

static void teardown(void)
{
	before_head = before_copy = after_copy = NULL;
	fixture_close();
}

static void write_entry(uint32_t n_slots)
{
	n_written += (uint64_t)entry_write(word, n_written, n_slots - 1);
}

static void check(void)
{
	pictured_check(0, word, n_written);
}

START_TEST(shows_all_entries_before_anything_is_overwritten)
{
	struct pictured p;

	pictured_take(&p, 1, word);
	ck_assert_int_eq(p.result, RING_PICTURE_NONE);
	pictured_free(&p);
	check();
	for (int i = 0; i < 100; i++)
		write_entry(3);
	pictured_take(&p, 0, word);
	ck_assert_int_eq(p.n_kept, 100);
	ck_assert_uint_eq(p.log.n_overwritten, 0);
	ck_assert_int_eq(p.log.tid, getpid());
	pictured_free(&p);
	pictured_take(&p, 0, word ^ 3);
	ck_assert_int_eq(p.n_kept, 100);
	pictured_free(&p);
	pictured_take(&p, 0, word + 4);
	ck_assert_int_eq(p.result, RING_PICTURE_NONE);
	pictured_free(&p);
}
END_TEST

/* Entries of each length lie across each boundary and the ring's end, at each position. */
START_TEST(keeps_whole_entries_at_every_position)
{
	while (fixture_head(0) < 3 * FIXTURE_SLOTS) {
		write_entry((uint32_t)_i);
		check();
	}
	ck_assert_uint_eq(fixture_lost(0, LOSS_FULL), 0);
}
END_TEST

START_TEST(keeps_whole_entries_of_all_lengths)
{
	srand(4711);
	while (fixture_head(0) < 20 * FIXTURE_SLOTS) {
		write_entry(1 + (uint32_t)rand() % MAX_SLOTS);
		check();
	}
}
END_TEST

/* Memory is smaller than a ring. Older records are counted, by the reason why they are missing. */
START_TEST(keeps_the_newest_that_there_is_memory_for)
{
	srand(4712);
	while (fixture_head(0) < 20 * FIXTURE_SLOTS) {
		uint64_t share = 1 + (uint64_t)rand() % (FIXTURE_SLOTS + 100);
		struct pictured all;
		struct pictured p;

		write_entry(1 + (uint32_t)rand() % MAX_SLOTS);
		pictured_take(&all, 0, word);
		pictured_take_share(&p, 0, word, share);
		ck_assert_int_eq(p.result, 0);
		ck_assert_int_ge(p.n_kept, 0);
		ck_assert_uint_eq(p.log.n_overwritten, all.log.n_overwritten);
		ck_assert_uint_eq(
			p.log.n_overwritten + p.log.n_left_out + (uint64_t)p.n_kept, n_written);
		ck_assert_uint_le(p.log.n_slots, share);
		if (p.log.n_left_out)
			ck_assert_uint_gt(p.log.n_slots + MAX_SLOTS, share);
		else
			ck_assert_uint_eq(p.log.n_slots, all.log.n_slots);
		pictured_free(&p);
		pictured_free(&all);
	}
}
END_TEST

START_TEST(keeps_whole_entries_in_larger_rings)
{
	uint32_t ring_bytes = FIXTURE_RING_BYTES << _i;
	uint32_t n_slots = ring_bytes / SLOT_BYTES;

	fixture_close();
	fixture_open_sized(1, ring_bytes);
	start(true);
	srand((unsigned)_i);
	while (fixture_head(0) < UINT64_C(3) * n_slots) {
		uint64_t to = fixture_head(0) + (uint64_t)rand() % (n_slots / 8);

		while (fixture_head(0) < to)
			write_entry(1 + (uint32_t)rand() % MAX_SLOTS);
		check();
	}
}
END_TEST

/* The recording begins at any position of a ring with entries of other recordings. */
START_TEST(shows_nothing_of_recordings_before)
{
	srand((unsigned)_i);
	for (int round = 0; round < 400; round++) {
		start(true);
		check();
		for (uint32_t n = (uint32_t)rand() % (round % 20 ? 600 : 3 * FIXTURE_SLOTS); n;
			n--) {
			write_entry(1 + (uint32_t)rand() % 4);
			if (n % 100 == 0)
				check();
		}
		check();
	}
}
END_TEST

/* The drain reads the ring while it is not in the recorder's mode. */
START_TEST(keeps_whole_entries_when_the_mode_changes)
{
	bool overwrites = false;

	srand((unsigned)_i);
	start(false);
	for (int round = 0; round < 3000; round++) {
		uint64_t lost = fixture_lost(0, LOSS_FULL);

		for (uint32_t n = (uint32_t)rand() % 700; n; n--)
			write_entry(1 + (uint32_t)rand() % MAX_SLOTS);
		check();
		if (overwrites && rand() % 3)
			ck_assert_uint_eq(fixture_lost(0, LOSS_FULL), lost);
		if (rand() % 4 == 0)
			fixture_overwrite(overwrites = !overwrites);
		if (!overwrites)
			fixture_empty(0);
	}
}
END_TEST

START_TEST(overwrites_at_the_next_limit_and_stops_there)
{
	start(false);
	for (uint32_t i = 0; i < FIXTURE_SLOTS + 10; i++)
		write_entry(1);
	ck_assert_uint_eq(n_written, FIXTURE_SLOTS);
	ck_assert_uint_eq(fixture_lost(0, LOSS_FULL), 10);
	check();
	fixture_overwrite(true);
	for (uint32_t i = 0; i < 2 * FIXTURE_SLOTS + 10; i++)
		write_entry(1);
	ck_assert_uint_eq(n_written, 3 * FIXTURE_SLOTS + 10);
	check();
	fixture_overwrite(false);
	for (uint32_t i = 0; i < 2 * FIXTURE_SLOTS; i++)
		write_entry(1);
	/* The thread stops at the boundary. */
	ck_assert_uint_eq(n_written, 3 * FIXTURE_SLOTS + FIXTURE_SLOTS / RING_SEGMENTS);
	check();
	fixture_empty(0);
	write_entry(1);
	ck_assert_uint_eq(n_written, 3 * FIXTURE_SLOTS + FIXTURE_SLOTS / RING_SEGMENTS + 1);
	check();
}
END_TEST

/* --- writes meanwhile ----------------------------------------------------------------------- */

static uint32_t n_meanwhile;
static int n_looks;

static void write_meanwhile(void)
{
	n_looks++;
	for (uint32_t i = 0; i < n_meanwhile; i++)
		write_entry(1 + i % MAX_SLOTS);
}

/*
 * Writes so much during a picture that some, or all, of the copied slots are overwritten. All
 * entries that were written before the picture are counted.
 */
static void look_while_it_writes(uint32_t n)
{
	uint64_t n_before = n_written;
	struct pictured p;

	n_looks = 0;
	n_meanwhile = n;
	pictured_take(&p, 0, word);
	ck_assert_int_eq(p.result, 0);
	ck_assert_int_ge(p.n_kept, 0);
	ck_assert_uint_ge(p.log.ordinal, n_before);
	ck_assert_uint_eq(p.log.n_overwritten + (uint64_t)p.n_kept, p.log.ordinal);
	if (n_looks == 1)
		ck_assert_uint_eq(p.log.ordinal, n_before);
	pictured_free(&p);
}

START_TEST(throws_away_entries_overwritten_meanwhile)
{
	if (_i)
		after_copy = write_meanwhile;
	else
		before_copy = write_meanwhile;
	for (uint32_t n = 0; n < 500; n++)
		look_while_it_writes(n);
	ck_assert_int_gt(n_looks, 1);
}
END_TEST

/* The reader is never fast enough. It gives up, and counts the entries. */
START_TEST(counts_all_when_nothing_is_left)
{
	struct pictured p;

	after_copy = write_meanwhile;
	n_meanwhile = FIXTURE_SLOTS;
	write_entry(1);
	pictured_take(&p, 0, word);
	ck_assert_int_eq(p.result, 0);
	ck_assert_int_gt(n_looks, 1);
	ck_assert_uint_eq(p.log.n_slots, 0);
	ck_assert_uint_eq(p.log.n_overwritten, n_written);
	ck_assert_uint_eq(p.log.ordinal, n_written);
	pictured_free(&p);
}
END_TEST

static void end_two(void)
{
	PTAP_END();
	PTAP_END();
}

static void begin_another(void)
{
	PTAP_END();
	PTAP_BEGIN("another");
}

static void end_two_among_others(void)
{
	for (int i = 0; i < 100; i++)
		PTAP_INSTANT("between");
	end_two();
	for (int i = 0; i < 100; i++)
		PTAP_INSTANT("behind");
}

/* Leaves the state of a thread that stops, or is killed, between the two stores of an end. */
static void end_without_depth(void)
{
	PTAP_END();
	atomic_store(&fixture_ring(0)->depth, 3);
}

static const struct {
	void (*before)(void);
	void (*meanwhile)(void);
	unsigned n_ended;
	unsigned n_open;
} looks_at_three[] = {
	{NULL, NULL, 0, 3},
	{NULL, end_two, 2, 1},
	{NULL, begin_another, 1, 2},
	{NULL, end_two_among_others, 2, 1},
	{end_without_depth, NULL, 1, 2},
	{end_without_depth, end_two, 3, 1},
	{end_two_among_others, NULL, 2, 1},
};

static unsigned count_spans(const struct pictured *p)
{
	unsigned n = 0;

	for (size_t at = 0; at < p->log.n_slots; at += 1 + record_n_extra(p->log.slots[at].word[0]))
		n += record_kind(p->log.slots[at].word[0]) == RECORD_SPAN;
	return n;
}

/* Each of the three spans that were open before the picture is in it once. */
START_TEST(has_a_span_that_ends_meanwhile_once)
{
	struct pictured p;

	for (int i = 0; i < 600; i++)
		PTAP_INSTANT("before");
	PTAP_BEGIN("outer");
	PTAP_BEGIN("middle");
	PTAP_BEGIN("inner");
	if (looks_at_three[_i].before)
		looks_at_three[_i].before();
	before_head = looks_at_three[_i].meanwhile;
	pictured_take(&p, 0, word);
	ck_assert_uint_eq(count_spans(&p), looks_at_three[_i].n_ended);
	ck_assert_uint_eq(p.log.n_open, looks_at_three[_i].n_open);
	for (uint32_t i = 0; i < p.log.n_open; i++)
		ck_assert_uint_eq(p.log.open[i].depth, i);
	pictured_free(&p);
}
END_TEST

/* The last record, with its depth not yet stored, may be in the segment before. */
START_TEST(has_a_span_that_ends_at_a_boundary_once)
{
	struct pictured p;

	for (uint32_t i = 0; i < FIXTURE_SLOTS / RING_SEGMENTS; i++)
		PTAP_INSTANT("before");
	while (fixture_head(0) % (FIXTURE_SLOTS / RING_SEGMENTS) != (uint64_t)(64 - _i))
		PTAP_INSTANT("before");
	for (uint32_t i = 64; i < FIXTURE_SLOTS / RING_SEGMENTS; i++)
		PTAP_INSTANT("before");
	PTAP_BEGIN("outer");
	PTAP_BEGIN_DYN("of four slots, whose name is longer than that");
	PTAP_END();
	atomic_store(&fixture_ring(0)->depth, 2);
	pictured_take(&p, 0, word);
	ck_assert_uint_eq(p.log.n_open, 1);
	pictured_free(&p);
}
END_TEST

/* A thread that has written nothing since the last picture has the same entries in the next one. */
START_TEST(shows_the_same_to_each_look)
{
	struct pictured a;
	struct pictured b;

	while (fixture_head(0) < 3 * FIXTURE_SLOTS)
		write_entry(7);
	pictured_take(&a, 0, word);
	pictured_take(&b, 0, word);
	ck_assert_uint_eq(a.log.n_slots, b.log.n_slots);
	ck_assert_mem_eq(a.log.slots, b.log.slots, a.log.n_slots * SLOT_BYTES);
	pictured_free(&a);
	pictured_free(&b);
}
END_TEST

static void lower_the_limit(void)
{
	fixture_ring(0)->limit = FIXTURE_SLOTS;
}

static void mark_what_is_not_copied(void)
{
	for (uint32_t i = 0; i < RING_SEGMENTS; i++)
		atomic_store(&fixture_ring(0)->marks[i].position, n_written / 2);
}

/* The target changes its ring's limit or marks while a picture is taken. */
START_TEST(a_limit_or_mark_that_changes_breaks_the_picture)
{
	struct pictured p;

	for (uint32_t i = 0; i < 3 * FIXTURE_SLOTS; i++)
		write_entry(1);
	if (_i)
		before_copy = mark_what_is_not_copied;
	else
		after_copy = lower_the_limit;
	pictured_take(&p, 0, word);
	ck_assert_int_eq(p.result, RING_PICTURE_BROKEN);
	ck_assert_uint_eq(p.log.n_slots, 0);
	pictured_free(&p);
}
END_TEST

/* A target that writes at random into its ring. */
START_TEST(survives_noise)
{
	struct ring *ring = fixture_ring(0);
	uint32_t *noise = (uint32_t *)ring;
	unsigned n_broken = 0;

	srand((unsigned)_i);
	for (int round = 0; round < 60; round++) {
		struct drain_budget budget = {.max_bytes = 1u << 20};
		struct pictured p = {.result = 0};

		for (size_t i = 0; i < ring_stride_bytes(FIXTURE_RING_BYTES) / 4; i++)
			noise[i] = (uint32_t)rand() * 3u;
		atomic_store(&ring->word, word);
		/* The picture then takes the slow path. */
		if (round % 3) {
			atomic_store(&ring->head, (unsigned)rand() % (3 * FIXTURE_SLOTS));
			atomic_store(&ring->first, (unsigned)rand() % FIXTURE_SLOTS);
			ring->limit = atomic_load(&ring->head) + (unsigned)rand() % FIXTURE_SLOTS;
		}
		for (uint32_t i = 0; i < RING_SEGMENTS && round % 3 == 2; i++)
			atomic_store(
				&ring->marks[i].position, (unsigned)rand() % (4 * FIXTURE_SLOTS));
		p.result = ring_picture_take(&fixture.target, 0, word, &budget, &p.log);
		n_broken += p.result == RING_PICTURE_BROKEN;
		ck_assert_uint_le(p.log.n_slots, FIXTURE_SLOTS);
		ck_assert_uint_le(budget.used_bytes, budget.max_bytes);
		pictured_free(&p);
	}
	ck_assert_uint_gt(n_broken, 0);
	ck_assert_uint_lt(n_broken, 60);
}
END_TEST

static const struct unit_test tcase_tests[] = {
	UNIT_TEST(shows_all_entries_before_anything_is_overwritten),
	UNIT_RANGE(keeps_whole_entries_at_every_position, 1, MAX_SLOTS + 1),
	UNIT_TEST(keeps_whole_entries_of_all_lengths),
	UNIT_TEST(keeps_the_newest_that_there_is_memory_for),
	UNIT_LOOP(keeps_whole_entries_in_larger_rings, 8),
	UNIT_LOOP(shows_nothing_of_recordings_before, 2),
	UNIT_LOOP(keeps_whole_entries_when_the_mode_changes, 2),
	UNIT_TEST(overwrites_at_the_next_limit_and_stops_there),
	UNIT_LOOP(has_a_span_that_ends_at_a_boundary_once, 8),
	UNIT_TEST(shows_the_same_to_each_look),
	UNIT_LOOP(a_limit_or_mark_that_changes_breaks_the_picture, 2),
	UNIT_LOOP(survives_noise, 4),
	{NULL},
};

static const struct unit_test meanwhile_tests[] = {
	UNIT_LOOP(throws_away_entries_overwritten_meanwhile, 2),
	UNIT_TEST(counts_all_when_nothing_is_left),
	UNIT_LOOP(has_a_span_that_ends_meanwhile_once,
		sizeof looks_at_three / sizeof *looks_at_three),
	{NULL},
};

static const struct unit cases[] = {
	{"alone", .set_up = setup, .tear_down = teardown, .tests = tcase_tests},
	{"meanwhile", .set_up = setup, .tear_down = teardown, .tests = meanwhile_tests},
	{NULL},
};

UNIT_MAIN_OF("ring_picture", cases)
