/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests allocations and frees of device memory: on the device's own plane, and in the form
 * of XProf's memory profile.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/device_fixture.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/log_fixture.h"
#include "tests/unit/unit.h"

#define MIB (INT64_C(1) << 20)

static struct thread_log *collector;

static void setup(void)
{
	log_open();
	collector = log_add(101, "ptap-collect");
	device_put_anchors(collector);
	device_put_info(collector, 0, 1);
}

static void put(uint8_t op, uint8_t memory, int64_t at, int64_t n_bytes, uint64_t address)
{
	struct device_entry e = device_make(DEVICE_MEMORY, at, at);

	e.correlation = 9;
	e.of.memory = (struct device_memory_change){
		.address = address, .bytes = (uint64_t)n_bytes, .op = op, .memory = memory};
	device_put(collector, NULL, &e);
}

static const struct trace_event *get(size_t i)
{
	const struct line *line = device_line(logs.plane, "memory of GPU 0");

	ck_assert_uint_lt(i, line->n_events);
	return &line->events[i];
}

static void expect(size_t i, const char *name, int64_t at, int64_t used, int64_t peak)
{
	const struct trace_event *event = get(i);

	ck_assert_str_eq(device_event_name(logs.plane, event), name);
	ck_assert_int_eq(event->start_ns, at);
	ck_assert_int_eq(event->duration_ns, 0);
	ck_assert_int_eq(device_stat(logs.plane, event, "bytes_allocated")->value.i64, used);
	ck_assert_int_eq(device_stat(logs.plane, event, "peak_bytes_in_use")->value.i64, peak);
}

START_TEST(says_how_much_is_in_use)
{
	const struct trace_event *event;

	/* The records are not in the order of their times. */
	put(2, 3, 300, 4 * MIB, 0x1000);
	put(1, 3, 100, 4 * MIB, 0x1000);
	put(1, 3, 200, 6 * MIB, 0x2000);
	log_assemble();
	expect(0, "MemoryAllocation", 100, 4 * MIB, 4 * MIB);
	expect(1, "MemoryAllocation", 200, 10 * MIB, 10 * MIB);
	expect(2, "MemoryDeallocation", 300, 6 * MIB, 10 * MIB);
	event = get(1);
	ck_assert_str_eq(device_text(logs.plane, event, "allocator_name"), "GPU_0");
	ck_assert_int_eq(device_stat(logs.plane, event, "bytes_available")->value.i64,
		81920 * MIB - 10 * MIB);
	ck_assert_int_eq(device_stat(logs.plane, event, "allocation_bytes")->value.i64, 6 * MIB);
	ck_assert_int_eq(device_stat(logs.plane, event, "requested_bytes")->value.i64, 6 * MIB);
	ck_assert_int_eq(device_stat(logs.plane, event, "addr")->value.i64, 0x2000);
	ck_assert_int_eq(device_stat(logs.plane, event, "bytes_reserved")->value.i64, 0);
	ck_assert_int_eq(device_stat(logs.plane, event, "fragmentation")->type, STAT_DOUBLE);
	/* With this stat XProf would take the event for an operation. */
	ck_assert_ptr_null(device_stat(logs.plane, event, "tf_op"));
}
END_TEST

START_TEST(knows_that_there_was_something_before)
{
	put(2, 3, 100, 4 * MIB, 0x1000);
	put(1, 3, 200, MIB, 0x1000);
	put(2, 3, 300, 2 * MIB, 0x1000);
	log_assemble();
	expect(0, "MemoryDeallocation", 100, MIB, 5 * MIB);
	expect(1, "MemoryAllocation", 200, 2 * MIB, 5 * MIB);
	expect(2, "MemoryDeallocation", 300, 0, 5 * MIB);
}
END_TEST

START_TEST(keeps_the_hosts_memory_apart)
{
	put(1, 3, 100, 4 * MIB, 0x1000);
	put(1, 2, 200, MIB, 0x9000);
	log_assemble();
	expect(1, "MemoryAllocation", 200, MIB, MIB);
	ck_assert_str_eq(device_text(logs.plane, get(1), "allocator_name"), "GPU_0_host");
	ck_assert_int_eq(device_stat(logs.plane, get(1), "bytes_available")->value.i64, 0);
}
END_TEST

START_TEST(events_of_memory_are_on_the_devices_plane)
{
	const struct plane *plane;
	const struct line *line;

	put(1, 3, 100, 64, 0x1000);
	put(2, 3, 200, 64, 0x1000);
	put(3, 3, 300, 0, 0);
	log_assemble();
	plane = device_plane("/device:CUSTOM:GPU:0");
	line = device_line(plane, "Memory");
	ck_assert_uint_eq(line->n_events, 3);
	ck_assert_str_eq(device_text(plane, device_event(plane, line, "Memory allocated"),
				 "memalloc_details"),
		"kind:device num_bytes:64");
	ck_assert_str_eq(
		device_text(plane, device_event(plane, line, "Memory freed"), "MemFree_details"),
		"kind:device num_bytes:64");
	device_event(plane, line, "Memory pool created");
	/* With this stat a step would count the event as work. */
	ck_assert_ptr_null(device_stat(plane, &line->events[0], "correlation_id"));
	ck_assert_uint_eq(device_line(logs.plane, "memory of GPU 0")->n_events, 2);
}
END_TEST

START_TEST(survives_any_number)
{
	for (int i = 0; i < 4; i++)
		put((uint8_t)(1 + i % 2), 3, 100 + i, -1, UINT64_MAX);
	put(1, 255, 200, INT64_MAX, 0);
	put(255, 3, 300, 1, 0);
	log_assemble();
	ck_assert_uint_eq(device_line(logs.plane, "memory of GPU 0")->n_events, 5);
}
END_TEST

/* The memory profile adds names to those of the process's spans while the next device is drawn. */
START_TEST(leaves_the_next_device_alone)
{
	struct device_entry kernel = device_make(DEVICE_KERNEL, 100, 200);

	kernel.device = 1;
	device_put_info(collector, 1, 2);
	put(1, 3, 100, 4 * MIB, 0x1000);
	device_put(collector, "matmul", &kernel);
	log_assemble();
	ck_assert_uint_eq(device_line(logs.plane, "memory of GPU 0")->n_events, 1);
	device_event(device_plane("/device:GPU:1"),
		device_line(device_plane("/device:GPU:1"), "Stream #7(Compute)"), "matmul");
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(says_how_much_is_in_use),
	UNIT_TEST(knows_that_there_was_something_before),
	UNIT_TEST(keeps_the_hosts_memory_apart),
	UNIT_TEST(events_of_memory_are_on_the_devices_plane),
	UNIT_TEST(survives_any_number),
	UNIT_TEST(leaves_the_next_device_alone),
	{NULL},
};

UNIT_MAIN("device_memory", .set_up = setup, .tear_down = log_close, .tests = tests)
