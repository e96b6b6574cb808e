/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the parts of a drain: no record is in two of them, none is missing, and
 * joined they are the whole.
 */
#include "daemon/pipeline/drain/drain_cut.h"

#include <check.h>
#include <proftap/proftap.h>

#include "tests/unit/drain_fixture.h"
#include "tests/unit/unit.h"

static struct drain older;
static struct drain newer;

static void setup(void)
{
	drained_setup();
	drain_init(&older, &fixture.target, &drained.budget);
	drain_init(&newer, &fixture.target, &drained.budget);
}

static void teardown(void)
{
	drain_deinit(&older);
	drain_deinit(&newer);
	drained_teardown();
}

static void cut(struct drain *part)
{
	drain_deinit(part);
	ck_assert_int_eq(drain_cut(&drained.drain, part), 0);
}

static void read_open(void)
{
	int error = 0;

	drain_read_open(&drained.drain, &error);
	ck_assert_int_eq(error, 0);
}

static void check_names(const struct drain *d, const char *const *names, size_t n)
{
	ck_assert_uint_eq(d->n_logs, 1);
	ck_assert_uint_eq(d->logs[0]->n_slots, n);
	for (size_t i = 0; i < n; i++)
		ck_assert_str_eq(fixture_name_of(&d->logs[0]->slots[i]), names[i]);
}

START_TEST(each_record_is_in_one_part_and_the_drain_goes_on)
{
	const struct slot *slots;

	PTAP_INSTANT("one");
	PTAP_INSTANT("two");
	drained_visit();
	slots = drained.drain.logs[0]->slots;
	cut(&older);
	check_names(&older, (const char *const[]){"one", "two"}, 2);
	ck_assert_ptr_eq(older.logs[0]->slots, slots);
	ck_assert_int_eq(older.logs[0]->is_closed, 1);
	ck_assert_uint_eq(drained.drain.logs[0]->n_slots, 0);
	PTAP_INSTANT("three");
	drained_visit();
	cut(&newer);
	check_names(&newer, (const char *const[]){"three"}, 1);
	ck_assert_uint_eq(newer.logs[0]->serial, older.logs[0]->serial);
	ck_assert_int_eq(newer.logs[0]->tid, older.logs[0]->tid);
}
END_TEST

START_TEST(a_thread_without_news_is_not_in_a_part)
{
	PTAP_INSTANT("one");
	drained_visit();
	cut(&older);
	cut(&newer);
	ck_assert_uint_eq(newer.n_logs, 0);
	ck_assert_uint_eq(drained.drain.n_logs, 1);
}
END_TEST

START_TEST(joined_parts_are_the_whole_with_the_newest_open_spans)
{
	ptap_begin_dyn("outer");
	PTAP_INSTANT("one");
	drained_visit();
	read_open();
	cut(&older);
	ck_assert_uint_eq(older.logs[0]->n_open, 1);
	PTAP_INSTANT("two");
	ptap_begin_dyn("inner");
	drained_visit();
	read_open();
	cut(&newer);
	ck_assert_uint_eq(newer.logs[0]->n_open, 2);
	ck_assert_int_eq(drain_join(&older, &newer), 0);
	check_names(&older, (const char *const[]){"one", "two"}, 2);
	ck_assert_uint_eq(older.logs[0]->n_open, 2);
	ck_assert_uint_eq(newer.n_logs, 0);
	ptap_end();
	ptap_end();
}
END_TEST

/* The state of a thread between the end of its span and its removal from the stack. */
START_TEST(a_span_that_went_with_a_part_is_not_open)
{
	ptap_begin_dyn("outer");
	ptap_begin_dyn("inner");
	ptap_end();
	atomic_store(&drained.ring->depth, 2);
	drained_visit();
	read_open();
	ck_assert_uint_eq(drained.drain.logs[0]->n_open, 1);
	cut(&older);
	read_open();
	ck_assert_uint_eq(drained.drain.logs[0]->n_open, 1);
}
END_TEST

/*
 * Each part has the losses since the part before it, because parts are read separately.
 * Together they have all losses.
 */
START_TEST(losses_are_reported_once)
{
	PTAP_INSTANT("one");
	drained_visit();
	drained.drain.logs[0]->lost[LOSS_FULL] = 5;
	drained.drain.logs[0]->lost_memory = 2;
	drained.drain.lost_oldest = 7;
	cut(&older);
	ck_assert_uint_eq(older.logs[0]->lost[LOSS_FULL], 5);
	ck_assert_uint_eq(older.logs[0]->lost_memory, 2);
	ck_assert_uint_eq(older.lost_oldest, 7);
	drained.drain.logs[0]->lost[LOSS_FULL] = 8; /* the ring counts from its beginning */
	cut(&newer);
	ck_assert_uint_eq(newer.n_logs, 1);
	ck_assert_uint_eq(newer.logs[0]->lost[LOSS_FULL], 3);
	ck_assert_uint_eq(newer.logs[0]->lost_memory, 0);
	ck_assert_uint_eq(newer.lost_oldest, 0);
	ck_assert_int_eq(drain_join(&older, &newer), 0);
	ck_assert_uint_eq(older.logs[0]->lost[LOSS_FULL], 8);
	ck_assert_uint_eq(older.logs[0]->lost_memory, 2);
	ck_assert_uint_eq(older.lost_oldest, 7);
}
END_TEST

START_TEST(the_log_of_a_thread_that_ended_goes_with_its_part)
{
	PTAP_INSTANT("one");
	drained_visit();
	drained.drain.logs[0]->is_closed = 1;
	cut(&older);
	ck_assert_uint_eq(older.n_logs, 1);
	ck_assert_uint_eq(drained.drain.n_logs, 0);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(each_record_is_in_one_part_and_the_drain_goes_on),
	UNIT_TEST(a_thread_without_news_is_not_in_a_part),
	UNIT_TEST(joined_parts_are_the_whole_with_the_newest_open_spans),
	UNIT_TEST(a_span_that_went_with_a_part_is_not_open),
	UNIT_TEST(losses_are_reported_once),
	UNIT_TEST(the_log_of_a_thread_that_ended_goes_with_its_part),
	{NULL},
};

UNIT_MAIN("drain_cut", .set_up = setup, .tear_down = teardown, .tests = tests)
