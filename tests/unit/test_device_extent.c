/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests how far back the records of devices reach: in one log, in several, and in a slice of a
 * session with its slots in a file.
 */
#include "daemon/pipeline/devices/device_extent.h"

#include <check.h>
#include <string.h>

#include "daemon/pipeline/recording/slice.h"
#include "tests/unit/device_fixture.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/log_fixture.h"
#include "tests/unit/unit.h"

/* CLOCK_MONOTONIC at the start, as in log_fixture.c. */
#define BASE_NS 777

static struct device_extents own;

static void open_case(void)
{
	log_open();
	memset(&own, 0, sizeof own);
}

static void close_case(void)
{
	device_extents_deinit(&own);
	log_close();
}

static void add(size_t process, const struct thread_log *log)
{
	ck_assert_int_eq(device_extents_add(&own, process, log->slots, log->n_slots), 0);
}

static void put(struct thread_log *log, enum device_kind kind, int64_t start, int64_t end)
{
	struct device_entry entry = device_make(kind, start, end);

	device_put(log, NULL, &entry);
}

START_TEST(begins_with_the_first_that_happened)
{
	struct thread_log *log = log_add(7, "ptap-collect");

	put(log, DEVICE_INFO, 100, 100);
	put(log, DEVICE_KERNEL, 5000, 9000);
	put(log, DEVICE_COPY, 3000, 9500);
	put(log, DEVICE_STREAM, 200, 200);
	device_put_anchors(log);
	add(4, log);
	ck_assert_uint_eq(own.n, 1);
	ck_assert_uint_eq(own.v[0].process, 4);
	ck_assert_int_eq(device_extent_find_first(&own.v[0]), BASE_NS + 3000);
}
END_TEST

START_TEST(invalid_records_do_not_extend_the_range)
{
	struct thread_log *log = log_add(7, "ptap-collect");
	struct device_entry of_nobody = device_make(DEVICE_KERNEL, 10, 20);
	struct device_entry never = device_make(DEVICE_KERNEL, 10, 20);

	device_put_anchors(log);
	put(log, DEVICE_KERNEL, 5000, 4000);
	of_nobody.collector = DEVICES_MAX_COLLECTORS;
	device_put(log, NULL, &of_nobody);
	never.start_ns = 0;
	device_put(log, NULL, &never);
	put(log, (enum device_kind)0, 10, 20);
	device_put_bytes(log, NULL, &never, 8);
	add(0, log);
	ck_assert_int_eq(device_extent_find_first(&own.v[0]), INT64_MAX);
	put(log, DEVICE_SET, 8000, 8000);
	/* The log ends within this record, as if memory had run out. */
	put(log, DEVICE_KERNEL, 1000, 2000);
	log->n_slots--;
	add(0, log);
	ck_assert_int_eq(device_extent_find_first(&own.v[0]), BASE_NS + 8000);
}
END_TEST

START_TEST(has_no_beginning_without_a_clock)
{
	struct thread_log *log = log_add(7, "ptap-collect");

	put(log, DEVICE_KERNEL, 5000, 9000);
	add(0, log);
	ck_assert_int_eq(device_extent_find_first(&own.v[0]), INT64_MAX);
}
END_TEST

START_TEST(other_threads_have_no_extent)
{
	struct thread_log *log = log_add(8, "worker");

	device_put_span(log, "span", 100, 200, 0);
	add(0, log);
	add(0, log_add(9, "idle"));
	ck_assert_uint_eq(own.n, 0);
}
END_TEST

START_TEST(the_clock_of_one_piece_is_that_of_all)
{
	struct device_extents other = {.n = 0};
	struct thread_log *first = log_add(7, "ptap-collect");
	struct thread_log *second = log_add(7, "ptap-collect");

	put(first, DEVICE_KERNEL, 5000, 9000);
	put(second, DEVICE_KERNEL, 7000, 9000);
	device_put_anchors(second);
	add(0, first);
	ck_assert_int_eq(device_extents_add(&other, 0, second->slots, second->n_slots), 0);
	ck_assert_int_eq(device_extents_add(&other, 1, second->slots, second->n_slots), 0);
	ck_assert_int_eq(device_extents_join(&own, &other), 0);
	ck_assert_uint_eq(own.n, 2);
	ck_assert_int_eq(device_extent_find_first(&own.v[0]), BASE_NS + 5000);
	ck_assert_int_eq(device_extent_find_first(&own.v[1]), BASE_NS + 7000);
	device_extents_deinit(&other);
}
END_TEST

/* Makes a slice of the fixture's logs, which are empty afterwards. */
static struct slice *make_slice(void)
{
	struct slice *slice = slice_new(1);

	ck_assert_ptr_nonnull(slice);
	slice->drains[slice->n_drains++] = logs.drain;
	drain_init(&logs.drain, &fixture.target, &logs.budget);
	return slice;
}

START_TEST(a_slice_has_extents_in_memory_and_in_a_file)
{
	struct thread_log *log = log_add(7, "ptap-collect");
	struct slice *slice;

	put(log, DEVICE_KERNEL, 5000, 9000);
	device_put_anchors(log);
	slice = make_slice();
	ck_assert_int_eq(slice_find_devices(slice, &own), 0);
	ck_assert_int_eq(device_extent_find_first(&own.v[0]), BASE_NS + 5000);
	device_extents_deinit(&own);
	slice_store(slice);
	ck_assert_int_eq(slice_find_devices(slice, &own), 0);
	ck_assert_int_eq(slice_is_in_memory(slice), 0);
	ck_assert_uint_eq(own.n, 1);
	ck_assert_int_eq(device_extent_find_first(&own.v[0]), BASE_NS + 5000);
	slice_free(slice);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(begins_with_the_first_that_happened),
	UNIT_TEST(invalid_records_do_not_extend_the_range),
	UNIT_TEST(has_no_beginning_without_a_clock),
	UNIT_TEST(other_threads_have_no_extent),
	UNIT_TEST(the_clock_of_one_piece_is_that_of_all),
	UNIT_TEST(a_slice_has_extents_in_memory_and_in_a_file),
	{NULL},
};

UNIT_MAIN("device_extent", .set_up = open_case, .tear_down = close_case, .tests = tests)
