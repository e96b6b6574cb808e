/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the fast path for records of one slot: alone and mixed with others, they must give the same
 * events as on the slow path.
 */
#include "daemon/pipeline/assembly/plain.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/pipeline/assembly/assembly.h"
#include "daemon/target/entry.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/log_fixture.h"
#include "tests/unit/unit.h"

#define N_RECORDS 2000
/*
 * The capture's records count from here on, though the assembly begins earlier, as for
 * a later part of a session.
 */
#define START_TICKS (LOG_START_TICKS + 5000)

static struct thread_log *thread_log;
static struct assembly *as;
static uint32_t ids[8];

static void setup(void)
{
	log_open();
	thread_log = log_add(1, "t");
	ids[0] = fixture_add_string("a");
	ids[1] = fixture_add_string("b");
	ids[2] = fixture_add_string("c");
	ids[3] = STRING_ID_LOST;
	ids[4] = STRING_ID_DYNAMIC;
	ids[5] = 0;
	ids[6] = 1000; /* no string has this id */
	ids[7] = ids[0];
	ck_assert_int_eq(assembly_new(&fixture.target, LOG_START_TICKS, START_TICKS, &as), 0);
	as->timeline = &logs.timeline;
}

static void teardown(void)
{
	assembly_free(as);
	log_close();
}

static unsigned pick(unsigned n)
{
	return (unsigned)rand() % n;
}

/* Three of four records are plain, so that most runs have several records. */
static void put_any(void)
{
	uint64_t start = pick(40) ? pick(4000000) : 0 - (uint64_t)pick(50000);
	unsigned is_odd = pick(4) == 0;
	unsigned kind = is_odd ? pick(16) : RECORD_SPAN + 2 * pick(2);
	uint64_t duration = pick(10) ? pick(100000) : RECORD_DURATION_MASK - pick(2);
	unsigned n_extra = is_odd && pick(2);

	log_put(thread_log, kind, ids[pick(is_odd ? 8 : 3)], start, duration, pick(16), n_extra);
	if (n_extra)
		log_put_slot(thread_log, slot_word0(ids[0], SLOT_I64, 0), 5);
}

static bool is_event(const struct entry *e)
{
	return e->kind != RECORD_COUNTER && e->kind != RECORD_ASYNC_BEGIN &&
	       e->kind != RECORD_ASYNC_END && e->start >= START_TICKS;
}

/*
 * Returns whether the entry is a mark of an async span without its id, or a call of a device
 * without its number.
 */
static bool is_half(const struct entry *e)
{
	if (e->start < START_TICKS)
		return false;
	if (e->kind == RECORD_LAUNCH || e->kind == RECORD_NODE)
		return true;
	return (e->kind == RECORD_ASYNC_BEGIN || e->kind == RECORD_ASYNC_END) && !entry_number(e);
}

static const char *name_of(const struct entry *e)
{
	return e->string_id == ids[0]		? "a"
	       : e->string_id == ids[1]		? "b"
	       : e->string_id == ids[2]		? "c"
	       : e->string_id == STRING_ID_LOST ? "(too many names)"
						: "(unknown name)";
}

static void expect(const struct entry *e, const struct trace_event *event, unsigned depth)
{
	int64_t start = timeline_convert(&logs.timeline, e->start);

	ck_assert_str_eq(names_get(&as->plane->event_names, event->name), name_of(e));
	ck_assert_int_eq(event->start_ns, start);
	ck_assert_int_eq(event->duration_ns,
		timeline_convert(&logs.timeline, e->start + e->duration) - start);
	ck_assert_uint_eq(depth, e->depth);
	/* Here an event can only have one argument or number. */
	ck_assert_int_eq(event->stats != 0, e->n_slots != 0);
}

/* Expects each record as entry_decode() decodes it alone. */
static void expect_all(void)
{
	const struct era era = {0, LOG_START_TICKS, LOG_START_TICKS + ERA_MAX_TICKS};
	size_t n_events = 0;
	uint64_t n_invalid = 0;

	for (size_t at = 0; at < thread_log->n_slots;) {
		struct entry e;

		if (record_kind(thread_log->slots[at].word[0]) == RECORD_DEVICE) {
			/* The record's time does not matter. */
			n_invalid += !entry_read(&e, &thread_log->slots[at]);
			at += 1 + e.n_slots;
			continue;
		}
		if (!entry_decode(&e, &thread_log->slots[at], &era) || is_half(&e)) {
			n_invalid++;
		} else if (is_event(&e)) {
			ck_assert_uint_lt(n_events, as->events.n);
			expect(&e, &as->events.v[n_events], as->events.depths[n_events]);
			n_events++;
		}
		at += 1 + e.n_slots;
	}
	ck_assert_uint_eq(as->events.n, n_events);
	ck_assert_uint_gt(n_events, 0);
	ck_assert_uint_eq(as->n_invalid, n_invalid);
}

START_TEST(plain_records_equal_those_of_the_long_way)
{
	srand((unsigned)_i);
	for (int i = 0; i < N_RECORDS; i++)
		put_any();
	ck_assert_int_eq(assembly_add(as, thread_log->slots, thread_log->n_slots), 0);
	expect_all();
}
END_TEST

/* There are more records than are taken at a time. */
START_TEST(takes_more_records_than_fit_at_a_time)
{
	for (uint64_t i = 0; i < 10000; i++)
		log_put(thread_log, RECORD_SPAN, ids[0], 5000 + i * 4, 4, 0, 0);
	ck_assert_int_eq(assembly_add(as, thread_log->slots, thread_log->n_slots), 0);
	ck_assert_uint_eq(as->events.n, 10000);
	expect_all();
}
END_TEST

/* Finding a new name is left to the slow path. */
START_TEST(leaves_names_that_are_new)
{
	log_put(thread_log, RECORD_SPAN, ids[0], 6000, 4, 0, 0);
	log_put(thread_log, RECORD_SPAN, ids[0], 6100, 4, 0, 0);
	log_put(thread_log, RECORD_SPAN, ids[1], 6200, 4, 0, 0);
	ck_assert_uint_eq(plain_take(as, thread_log->slots, 3), 0);
	ck_assert_int_eq(assembly_add(as, thread_log->slots, 1), 0);
	ck_assert_uint_eq(plain_take(as, thread_log->slots, 3), 2);
	ck_assert_uint_eq(as->events.n, 3);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_LOOP(plain_records_equal_those_of_the_long_way, 20),
	UNIT_TEST(takes_more_records_than_fit_at_a_time),
	UNIT_TEST(leaves_names_that_are_new),
	{NULL},
};

UNIT_MAIN("plain", .set_up = setup, .tear_down = teardown, .tests = tests)
