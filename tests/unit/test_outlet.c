/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the collectors' ring: its entries, how writers wait for room, and who reads it. */
#include "lib/collect/outlet.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "daemon/pipeline/drain/drain.h"
#include "lib/wire/device.h"
#include "tests/unit/drain_fixture.h"
#include "tests/unit/unit.h"

static struct outlet outlet;
static int error;

static void setup(void)
{
	fixture_open();
	drained_init();
	atomic_store(&fixture.arena->owner, 1);
	ck_assert_int_eq(outlet_open(&outlet, fixture.arena), 0);
	drain_set_devices(&drained.drain, atomic_load(&fixture.arena->collect.ring));
}

static void put(uint64_t number)
{
	struct device_entry e = {.kind = DEVICE_COUNTER, .correlation = number};

	ck_assert_int_eq(outlet_put(&outlet, 5, &e, device_entry_bytes(DEVICE_COUNTER)), 0);
}

/* The number of entry |i| in the log; each entry has three slots and the record. */
static uint64_t find_number(size_t i)
{
	const struct slot *slot = &drained.drain.logs[0]->slots[i * 4];
	struct device_entry e = {.kind = 0};

	ck_assert_uint_eq(record_kind(slot->word[0]), RECORD_DEVICE);
	ck_assert_uint_eq(record_n_extra(slot->word[0]), 3);
	memcpy(&e, slot + 1, device_entry_bytes(DEVICE_COUNTER));
	ck_assert_uint_eq(e.kind, DEVICE_COUNTER);
	return e.correlation;
}

START_TEST(entries_are_taken_out_whatever_is_recorded)
{
	put(1);
	drained_visit();
	drain_begin(&drained.drain, fixture_start(1));
	put(2);
	drained_visit();
	fixture_publish(0);
	put(3);
	drained_visit();
	ck_assert_uint_eq(drained.drain.n_logs, 1);
	ck_assert_str_eq(drained.drain.logs[0]->name, "ptap-collect");
	for (size_t i = 0; i < 3; i++)
		ck_assert_uint_eq(find_number(i), i + 1);
	ck_assert_uint_eq(drained.drain.logs[0]->slots[0].word[1] >> RECORD_DURATION_BITS, 5);
}
END_TEST

START_TEST(drain_without_the_outlet_ignores_its_records)
{
	drained_start();
	drain_set_devices(&drained.drain, 0);
	put(1);
	drained_visit();
	ck_assert_uint_eq(drained.drain.n_logs, 0);
	drain_set_devices(&drained.drain, outlet.ring == fixture_ring(0) ? 2 : 1);
	drained_visit();
	ck_assert_uint_eq(drained.drain.n_logs, 0);
}
END_TEST

static void *put_many(void *n)
{
	struct device_entry e = {.kind = DEVICE_COUNTER};

	for (uint64_t i = 0; i < *(uint64_t *)n && !error; i++) {
		e.correlation = i;
		error = outlet_put(&outlet, 5, &e, device_entry_bytes(DEVICE_COUNTER));
	}
	return NULL;
}

/*
 * Puts ten times the content of the ring, in both modes: full rings of threads overwrite their
 * oldest entries, or do not.
 */
START_TEST(waits_for_room_and_loses_nothing)
{
	uint64_t n = FIXTURE_SLOTS / 4 * 10;
	pthread_t thread;

	fixture_overwrite(_i);
	ck_assert_int_eq(pthread_create(&thread, NULL, put_many, &n), 0);
	while (!drained.drain.n_logs || drained.drain.logs[0]->n_slots < n * 4)
		drained_visit();
	pthread_join(thread, NULL);
	ck_assert_int_eq(error, 0);
	for (uint64_t i = 0; i < n; i++)
		ck_assert_uint_eq(find_number(i), i);
	ck_assert_uint_eq(drained.drain.logs[0]->n_entries, n);
	ck_assert_uint_eq(drained.drain.n_broken, 0);
	ck_assert_uint_eq(drained.drain.logs[0]->lost[LOSS_FULL], 0);
}
END_TEST

static void await_full(void)
{
	while (atomic_load(&outlet.ring->head) < FIXTURE_SLOTS)
		sched_yield();
}

START_TEST(gives_up_when_the_capture_is_cancelled)
{
	uint64_t n = FIXTURE_SLOTS;
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, put_many, &n), 0);
	await_full();
	if (_i)
		atomic_store(&fixture.arena->collect.is_cancelled, 1);
	else
		atomic_store(&fixture.arena->owner, 0);
	pthread_join(thread, NULL);
	ck_assert_int_eq(error, -ECANCELED);
	ck_assert_uint_eq(atomic_load(&outlet.ring->head), FIXTURE_SLOTS);
	ck_assert(outlet_is_closed(fixture.arena));
}
END_TEST

static void *count_naps(void *n)
{
	static long n_naps;
	struct rusage usage;

	put_many(n);
	getrusage(RUSAGE_THREAD, &usage);
	n_naps = usage.ru_nvcsw;
	return &n_naps;
}

START_TEST(sleeps_for_longer_while_nobody_comes)
{
	const struct timespec half_a_second = {.tv_nsec = 500000000};
	uint64_t n = FIXTURE_SLOTS;
	pthread_t thread;
	void *n_naps;

	ck_assert_int_eq(pthread_create(&thread, NULL, count_naps, &n), 0);
	await_full();
	/* The server is stopped for this time. */
	nanosleep(&half_a_second, NULL);
	atomic_store(&fixture.arena->collect.is_cancelled, 1);
	pthread_join(thread, &n_naps);
	ck_assert_int_lt(*(long *)n_naps, 150);
}
END_TEST

START_TEST(writes_nothing_after_a_cancel)
{
	struct device_entry e = {.kind = DEVICE_ANCHOR};

	atomic_store(&fixture.arena->collect.is_cancelled, 1);
	ck_assert_int_eq(outlet_put(&outlet, 0, &e, DEVICE_HEAD_BYTES), -ECANCELED);
	ck_assert_uint_eq(atomic_load(&outlet.ring->head), 0);
}
END_TEST

START_TEST(says_that_there_is_no_ring)
{
	struct outlet other;

	for (uint32_t i = 1; i < FIXTURE_RINGS; i++)
		atomic_store(&fixture.arena->ring_state[i], RING_USED);
	ck_assert_int_eq(outlet_open(&other, fixture.arena), -EAGAIN);
}
END_TEST

/* One entry has the most bytes that it can have, and a name that does not exist. */
START_TEST(an_entry_may_have_all_its_slots)
{
	uint8_t bytes[RECORD_MAX_EXTRA * SLOT_BYTES];
	const struct slot *slot;

	memset(bytes, 7, sizeof bytes);
	ck_assert_int_eq(outlet_put(&outlet, 0, bytes, sizeof bytes), 0);
	drained_visit();
	slot = drained.drain.logs[0]->slots;
	ck_assert_uint_eq(drained.drain.logs[0]->n_slots, 32);
	ck_assert_uint_eq(slot->word[1] >> RECORD_DURATION_BITS, STRING_ID_LOST);
	ck_assert_mem_eq(slot + 1, bytes, sizeof bytes);
}
END_TEST

START_TEST(bytes_after_the_last_one_are_zero)
{
	uint8_t bytes[20];
	const struct slot *slot;

	memset(bytes, 7, sizeof bytes);
	ck_assert_int_eq(outlet_put(&outlet, 0, bytes, sizeof bytes), 0);
	drained_visit();
	slot = drained.drain.logs[0]->slots;
	ck_assert_uint_eq(slot[2].word[0], UINT64_C(0x07070707));
	ck_assert_uint_eq(slot[2].word[1], 0);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(entries_are_taken_out_whatever_is_recorded),
	UNIT_TEST(drain_without_the_outlet_ignores_its_records),
	UNIT_LOOP(waits_for_room_and_loses_nothing, 2),
	UNIT_LOOP(gives_up_when_the_capture_is_cancelled, 2),
	UNIT_TEST(sleeps_for_longer_while_nobody_comes),
	UNIT_TEST(writes_nothing_after_a_cancel),
	UNIT_TEST(says_that_there_is_no_ring),
	UNIT_TEST(an_entry_may_have_all_its_slots),
	UNIT_TEST(bytes_after_the_last_one_are_zero),
	{NULL},
};

UNIT_MAIN("outlet", .set_up = setup, .tear_down = drained_teardown, .tests = tests)
