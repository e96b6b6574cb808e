/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that facts that collectors have reported are repeated for a later capture. */
#include "lib/collect/recall.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/collect/outlet.h"
#include "tests/unit/drain_fixture.h"
#include "tests/unit/unit.h"

static struct recall recall;
static struct outlet outlet;

static void setup(void)
{
	fixture_open();
	drained_init();
	atomic_store(&fixture.arena->owner, 1);
	ck_assert_int_eq(outlet_open(&outlet, fixture.arena), 0);
	drain_set_devices(&drained.drain, atomic_load(&fixture.arena->collect.ring));
	recall_forget(&recall);
}

static struct device_entry make(enum device_kind kind, unsigned collector)
{
	return (struct device_entry){.kind = (uint8_t)kind, .collector = (uint8_t)collector};
}

static void note(uint32_t name, const struct device_entry *e)
{
	recall_note(&recall, name, e, device_entry_bytes(e->kind));
}

/* Returns entry |i| of those that were written. Its name goes to *name. */
static struct device_entry get(size_t i, uint32_t *name)
{
	const struct thread_log *log = drained.drain.logs[0];
	struct device_entry e = {.kind = 0};
	size_t at = 0;

	while (i--)
		at += 1 + record_n_extra(log->slots[at].word[0]);
	ck_assert_uint_lt(at, log->n_slots);
	*name = (uint32_t)(log->slots[at].word[1] >> RECORD_DURATION_BITS);
	memcpy(&e, &log->slots[at + 1], DEVICE_HEAD_BYTES);
	memcpy(&e, &log->slots[at + 1], device_entry_bytes(e.kind));
	return e;
}

/* Writes all facts. Returns the number of entries. */
static size_t write_all(void)
{
	ck_assert_int_eq(recall_write(&recall, &outlet), 0);
	drained_visit();
	return drained.drain.n_logs ? drained.drain.logs[0]->n_entries : 0;
}

START_TEST(latest_facts_of_devices_and_streams_are_recalled)
{
	struct device_entry info = make(DEVICE_INFO, 0);
	struct device_entry stream = make(DEVICE_STREAM, 0);
	uint32_t name;

	info.of.info.core_count = 1;
	note(5, &info);
	stream.stream = 7;
	note(6, &stream);
	stream.stream = 8;
	note(6, &stream);
	info.of.info.core_count = 2;
	note(9, &info);
	ck_assert_uint_eq(write_all(), 3);
	ck_assert_uint_eq(get(0, &name).of.info.core_count, 2);
	ck_assert_uint_eq(name, 9);
	ck_assert_uint_eq(get(1, &name).stream, 7);
	ck_assert_uint_eq(get(2, &name).stream, 8);
}
END_TEST

/* The clock is a line through these two pairs. */
START_TEST(first_and_last_pair_of_a_collectors_clock_are_recalled)
{
	uint32_t name;

	for (uint64_t i = 1; i <= 10; i++) {
		struct device_entry anchor = make(DEVICE_ANCHOR, i % 2);

		anchor.start_ns = i;
		note(0, &anchor);
	}
	ck_assert_uint_eq(write_all(), 4);
	ck_assert_uint_eq(get(0, &name).start_ns, 2);
	ck_assert_uint_eq(get(1, &name).start_ns, 10);
	ck_assert_uint_eq(get(2, &name).start_ns, 1);
	ck_assert_uint_eq(get(3, &name).start_ns, 9);
}
END_TEST

START_TEST(two_collectors_devices_or_contexts_are_two)
{
	struct device_entry e = make(DEVICE_INFO, 0);

	note(1, &e);
	e.collector = 1;
	note(1, &e);
	e.device = 1;
	note(1, &e);
	e = make(DEVICE_STREAM, 0);
	note(1, &e);
	e.context = 2;
	note(1, &e);
	ck_assert_uint_eq(write_all(), 5);
}
END_TEST

START_TEST(events_are_not_recalled)
{
	for (int kind = 1; kind < DEVICE_XSPACE; kind++) {
		struct device_entry e = make((enum device_kind)kind, 0);

		if (kind != DEVICE_INFO && kind != DEVICE_STREAM && kind != DEVICE_ANCHOR)
			note(1, &e);
	}
	ck_assert_uint_eq(write_all(), 0);
}
END_TEST

START_TEST(more_streams_than_there_is_room_for_are_left_out)
{
	for (uint64_t i = 0; i < 2 * RECALL_MAX; i++) {
		struct device_entry e = make(DEVICE_STREAM, 0);

		e.stream = i;
		note(1, &e);
	}
	ck_assert_uint_eq(write_all(), RECALL_MAX);
}
END_TEST

START_TEST(forgotten_facts_are_not_recalled)
{
	struct device_entry e = make(DEVICE_INFO, 0);

	note(1, &e);
	e.kind = DEVICE_ANCHOR;
	note(1, &e);
	recall_forget(&recall);
	ck_assert_uint_eq(write_all(), 0);
}
END_TEST

static size_t count_repeated(void)
{
	recall_repeat_if_asked(&recall, &outlet);
	drained_visit();
	return drained.drain.n_logs ? drained.drain.logs[0]->n_entries : 0;
}

START_TEST(each_request_repeats_the_facts_once)
{
	struct device_entry e = make(DEVICE_INFO, 0);

	note(1, &e);
	ck_assert_uint_eq(count_repeated(), 0);
	atomic_store(&fixture.arena->collect.repeat, 2);
	ck_assert_uint_eq(count_repeated(), 1);
	ck_assert_uint_eq(count_repeated(), 1);
	atomic_store(&fixture.arena->collect.repeat, 3);
	ck_assert_uint_eq(count_repeated(), 2);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(latest_facts_of_devices_and_streams_are_recalled),
	UNIT_TEST(first_and_last_pair_of_a_collectors_clock_are_recalled),
	UNIT_TEST(two_collectors_devices_or_contexts_are_two),
	UNIT_TEST(events_are_not_recalled),
	UNIT_TEST(more_streams_than_there_is_room_for_are_left_out),
	UNIT_TEST(forgotten_facts_are_not_recalled),
	UNIT_TEST(each_request_repeats_the_facts_once),
	{NULL},
};

UNIT_MAIN("recall", .set_up = setup, .tear_down = drained_teardown, .tests = tests)
