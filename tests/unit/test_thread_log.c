/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the eras of a thread's slots, which are added and removed with the slots. */
#include "daemon/pipeline/drain/thread_log.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "daemon/pipeline/drain/drain.h"
#include "daemon/pipeline/drain/drain_cut.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/unit.h"

#define BEGIN (UINT64_C(7) << 50)

static struct drain_budget budget;
static struct drain drain;
static struct thread_log *log_of_one;
static uint64_t now;

static void setup(void)
{
	fixture_open();
	budget = (struct drain_budget){.max_bytes = 64u << 20};
	drain_init(&drain, &fixture.target, &budget);
	now = BEGIN;
	era_clock_begin(&budget.era_clock, BEGIN - ERA_STALL_TICKS, now);
	ck_assert_int_eq(thread_log_new(&budget, &log_of_one), 0);
	ck_assert_int_eq(drain_take_log(&drain, log_of_one), 0);
}

static void teardown(void)
{
	drain_deinit(&drain);
	fixture_close();
}

static void pass(uint64_t ticks)
{
	for (int i = 0; i < 8; i++) {
		now += ticks / 8;
		era_clock_update(&budget.era_clock, now);
	}
}

/* Adds |n| slots of the same era as before, or of the next one. */
static void add(size_t n, bool is_next_era)
{
	struct slot *room;

	pass(is_next_era ? ERA_INTERVAL_TICKS : 1000);
	ck_assert_int_eq(thread_log_extend(log_of_one, n, &budget, &room), 0);
}

static void expect_ends(const struct thread_log *log, const size_t *ends, size_t n)
{
	ck_assert_uint_eq(log->n_eras, n);
	for (size_t i = 0; i < n; i++)
		ck_assert_uint_eq(log->eras[i].end, ends[i]);
	for (size_t i = 1; i < n; i++)
		ck_assert_uint_gt(log->eras[i].after_ticks, log->eras[i - 1].after_ticks);
}

#define EXPECT(log, ...)                                  \
	expect_ends((log), (const size_t[]){__VA_ARGS__}, \
		sizeof(const size_t[]){__VA_ARGS__} / sizeof(size_t))

START_TEST(each_era_has_its_slots)
{
	add(10, false);
	add(7, false);
	EXPECT(log_of_one, 17);
	add(3, true);
	EXPECT(log_of_one, 17, 20);
	add(5, false);
	add(1, true);
	EXPECT(log_of_one, 17, 25, 26);
}
END_TEST

/* The oldest of the copied slots were overwritten during the copy. */
START_TEST(forgotten_slots_have_no_era)
{
	add(10, false);
	add(10, true);
	thread_log_forget(log_of_one, 4, &budget);
	EXPECT(log_of_one, 10, 16);
	add(5, false);
	thread_log_forget(log_of_one, 5, &budget);
	EXPECT(log_of_one, 10, 16);
	add(8, true);
	thread_log_forget(log_of_one, 8, &budget);
	EXPECT(log_of_one, 10, 16);
	add(2, false);
	EXPECT(log_of_one, 10, 16, 18);
}
END_TEST

START_TEST(joined_parts_have_the_eras_of_the_whole)
{
	struct drain older;
	struct drain newer;

	add(10, false);
	add(6, true);
	ck_assert_int_eq(drain_cut(&drain, &older), 0);
	ck_assert_uint_eq(drain.n_logs, 0);
	ck_assert_int_eq(thread_log_new(&budget, &log_of_one), 0);
	ck_assert_int_eq(drain_take_log(&drain, log_of_one), 0);
	add(4, false);
	add(1, true);
	ck_assert_int_eq(drain_cut(&drain, &newer), 0);
	EXPECT(newer.logs[0], 4, 5);
	ck_assert_int_eq(drain_join(&older, &newer), 0);
	EXPECT(older.logs[0], 10, 20, 21);
	drain_deinit(&older);
}
END_TEST

START_TEST(stolen_slots_take_their_eras_along)
{
	struct slot_batch batch;

	add(10, false);
	add(6, true);
	batch = thread_log_steal(log_of_one, &budget);
	ck_assert_uint_eq(batch.n_eras, 2);
	ck_assert_uint_eq(batch.eras[1].end, 16);
	free(batch.slots);
	free(batch.eras);
	add(3, false);
	EXPECT(log_of_one, 3);
}
END_TEST

static int sink_result;
static struct slot_batch sink_batch;

static int take_batch(struct slot_sink *sink, void *receiver, void **track,
	const struct slot_batch *batch, const struct timeline *timeline)
{
	(void)receiver;
	(void)timeline;
	if (!sink_result) {
		*track = sink;
		sink_batch = *batch;
	}
	return sink_result;
}

START_TEST(slots_stay_when_the_sink_refuses_them)
{
	struct slot_sink sink = {.take = take_batch};

	add(10, false);
	budget.sink = &sink;
	sink_result = -ENOMEM;
	ck_assert_int_eq(drain_give(&drain, &budget, NULL, NULL), -ENOMEM);
	ck_assert_uint_eq(log_of_one->n_slots, 10);
	ck_assert_ptr_null(log_of_one->track);
	ck_assert_uint_eq(budget.given_bytes, 0);
	sink_result = 0;
	ck_assert_int_eq(drain_give(&drain, &budget, NULL, NULL), 0);
	ck_assert_uint_eq(log_of_one->n_slots, 0);
	ck_assert_ptr_eq(log_of_one->track, &sink);
	ck_assert_uint_eq(budget.given_bytes, 10 * sizeof(struct slot));
	ck_assert_uint_eq(sink_batch.n, 10);
	free(sink_batch.slots);
	free(sink_batch.eras);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(each_era_has_its_slots),
	UNIT_TEST(forgotten_slots_have_no_era),
	UNIT_TEST(joined_parts_have_the_eras_of_the_whole),
	UNIT_TEST(stolen_slots_take_their_eras_along),
	UNIT_TEST(slots_stay_when_the_sink_refuses_them),
	{NULL},
};

UNIT_MAIN("thread_log", .set_up = setup, .tear_down = teardown, .tests = tests)
