/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the records that flow marks, async marks, and annotations by functions leave in the ring.
 */
#include <check.h>
#include <proftap/proftap.h>
#include <stdlib.h>
#include <string.h>

#include "lib/wire/ring.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/unit.h"

static struct ring *ring;

static void setup(void)
{
	fixture_open();
	ring = fixture_ring(0);
	fixture_start(1);
}

/* Expects a record at |at| of |kind|, named |name| by its id, at |depth|, with the number |id|. */
static void expect_mark(
	uint64_t at, enum record_kind kind, const char *name, unsigned depth, uint64_t id)
{
	const struct slot *slot = fixture_slot(0, at);

	ck_assert_uint_eq(record_kind(slot[0].word[0]), kind);
	ck_assert_uint_eq(record_n_extra(slot[0].word[0]), 1);
	ck_assert_uint_eq(record_depth(slot[0].word[0]), depth);
	ck_assert_uint_eq(fixture_duration_of(slot), 0);
	ck_assert_str_eq(fixture_name_of(slot), name);
	ck_assert_uint_eq(slot[1].word[0], slot_word0(0, SLOT_U64, 0));
	ck_assert_uint_eq(slot[1].word[1], id);
}

START_TEST(writes_a_mark_with_its_id)
{
	{
		PTAP_SPAN("around");
		PTAP_FLOW_OUT("job", UINT64_MAX);
	}
	PTAP_FLOW_IN("job", 7);
	PTAP_ASYNC_BEGIN("request", 0);
	PTAP_ASYNC_END("request", -1);
	expect_mark(0, RECORD_FLOW_OUT, "job", 1, UINT64_MAX);
	expect_mark(3, RECORD_FLOW_IN, "job", 0, 7);
	expect_mark(5, RECORD_ASYNC_BEGIN, "request", 0, 0);
	expect_mark(7, RECORD_ASYNC_END, "request", 0, UINT64_MAX);
	ck_assert_uint_eq(fixture_head(0), 9);
	ck_assert_uint_eq(atomic_load(&ring->depth), 0);
}
END_TEST

static int n_evaluated;

static uint64_t evaluated(void)
{
	n_evaluated++;
	return 1;
}

static void call_everything(const char *name)
{
	PTAP_FLOW_OUT("a", evaluated());
	PTAP_FLOW_IN("a", evaluated());
	PTAP_ASYNC_BEGIN("a", evaluated());
	PTAP_ASYNC_END("a", evaluated());
	PTAP_FLOW_OUT_DYN(name, evaluated());
	PTAP_FLOW_IN_DYN(name, evaluated());
	PTAP_ASYNC_BEGIN_DYN(name, evaluated());
	PTAP_ASYNC_END_DYN(name, evaluated());
	ptap_begin_dyn(name);
	ptap_begin_step_dyn(name, 5);
	ptap_end();
	ptap_end();
	ptap_instant_dyn(name);
	ptap_counter_dyn(name, 0.5);
	ptap_flow_out_dyn(name, 1);
	ptap_flow_in_dyn(name, 1);
	ptap_async_begin_dyn(name, 1);
	ptap_async_end_dyn(name, 1);
}

START_TEST(writes_and_evaluates_nothing_when_off)
{
	fixture_publish(0);
	call_everything("name");
	ck_assert_uint_eq(fixture_head(0), 0);
	ck_assert_int_eq(n_evaluated, 0);
	fixture_start(1);
	call_everything("name");
	ck_assert_uint_gt(fixture_head(0), 0);
	ck_assert_int_eq(n_evaluated, 8);
}
END_TEST

/* Returns the name in the slots after the record at |at|; |n| becomes their number. */
static const char *name_behind(uint64_t at, unsigned *n)
{
	static char text[256];
	const struct slot *slot = fixture_slot(0, at + 1);
	uint32_t n_bytes = (uint32_t)(slot->word[0] >> 32);

	ck_assert_uint_eq(fixture_slot(0, at)->word[1] >> RECORD_DURATION_BITS, STRING_ID_DYNAMIC);
	ck_assert_uint_eq(slot_type(slot->word[0]), SLOT_NAME);
	ck_assert_uint_lt(n_bytes, sizeof text);
	memcpy(text, &slot->word[1], n_bytes);
	text[n_bytes] = '\0';
	*n = slot_count_for_text(n_bytes);
	return text;
}

/*
 * Like expect_mark(), with a run-time name and a number of |type|. Returns the position of the next
 * record.
 */
static uint64_t expect_named(
	uint64_t at, enum record_kind kind, const char *name, enum slot_type type, uint64_t bits)
{
	const struct slot *record = fixture_slot(0, at);
	unsigned n;

	ck_assert_uint_eq(record_kind(record->word[0]), kind);
	ck_assert_str_eq(name_behind(at, &n), name);
	ck_assert_uint_eq(record_n_extra(record->word[0]), n + 1);
	ck_assert_uint_eq(record[1 + n].word[0], slot_word0(0, type, 0));
	ck_assert_uint_eq(record[1 + n].word[1], bits);
	return at + 2 + n;
}

START_TEST(puts_the_number_behind_a_run_time_name)
{
	double half = 0.5;
	uint64_t bits;
	uint64_t at;
	char name[300];

	memcpy(&bits, &half, sizeof bits);
	memset(name, 'n', sizeof name);
	name[255] = '\0';
	PTAP_FLOW_OUT_DYN(name, 1);
	ptap_flow_in_dyn("f", 2);
	PTAP_ASYNC_BEGIN_DYN("a name of more than 24 bytes", 3);
	ptap_async_end_dyn("", 4);
	ptap_counter_dyn("queue", 0.5);
	at = expect_named(0, RECORD_FLOW_OUT, name, SLOT_U64, 1);
	at = expect_named(at, RECORD_FLOW_IN, "f", SLOT_U64, 2);
	at = expect_named(at, RECORD_ASYNC_BEGIN, "a name of more than 24 bytes", SLOT_U64, 3);
	at = expect_named(at, RECORD_ASYNC_END, "", SLOT_U64, 4);
	at = expect_named(at, RECORD_COUNTER, "queue", SLOT_F64, bits);
	ck_assert_uint_eq(fixture_head(0), at);
	ck_assert_uint_eq(fixture_lost(0, LOSS_CUT), 0);
}
END_TEST

START_TEST(nests_the_spans_of_functions)
{
	unsigned n;
	uint64_t at;

	ptap_begin_step_dyn("train", -3);
	ptap_begin_dyn("inner");
	ptap_instant_dyn("point");
	ptap_end();
	ptap_end();
	ptap_end();
	ck_assert_str_eq(name_behind(0, &n), "point");
	ck_assert_uint_eq(record_depth(fixture_slot(0, 0)->word[0]), 2);
	at = 1 + n;
	ck_assert_str_eq(name_behind(at, &n), "inner");
	ck_assert_uint_eq(record_depth(fixture_slot(0, at)->word[0]), 1);
	at += 1 + n;
	ck_assert_uint_eq(record_depth(fixture_slot(0, at)->word[0]), 0);
	at = expect_named(at, RECORD_STEP, "train", SLOT_I64, (uint64_t)-3);
	ck_assert_uint_eq(fixture_head(0), at);
}
END_TEST

START_TEST(counts_marks_that_find_the_ring_full)
{
	for (uint32_t i = 0; i < FIXTURE_SLOTS / 2; i++)
		PTAP_ASYNC_BEGIN("a", i);
	ck_assert_uint_eq(fixture_lost(0, LOSS_FULL), 0);
	PTAP_ASYNC_END("a", 0);
	ptap_flow_in_dyn("a", 0);
	ck_assert_uint_eq(fixture_lost(0, LOSS_FULL), 2);
	ck_assert_uint_eq(fixture_head(0), FIXTURE_SLOTS);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(writes_a_mark_with_its_id),
	UNIT_TEST(writes_and_evaluates_nothing_when_off),
	UNIT_TEST(puts_the_number_behind_a_run_time_name),
	UNIT_TEST(nests_the_spans_of_functions),
	UNIT_TEST(counts_marks_that_find_the_ring_full),
	{NULL},
};

UNIT_MAIN("point", .set_up = setup, .tear_down = fixture_close, .tests = tests)
