/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that lost device records are counted by reason and reported, and that invalid records are
 * harmless.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "tests/unit/device_fixture.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/log_fixture.h"
#include "tests/unit/spool_fixture.h"
#include "tests/unit/unit.h"
#include "trace/xspace/xspace.h"

static struct thread_log *collector;

static void setup(void)
{
	log_open();
	collector = log_add(101, "ptap-collect");
}

static void put_loss(enum device_loss reason, uint32_t kind, uint64_t n)
{
	struct device_entry e = device_make(DEVICE_LOSS, 0, 0);

	e.of.loss = (struct device_lost){.n = n, .reason = reason, .kind = kind};
	device_put(collector, NULL, &e);
}

/* --- losses that collectors report --------------------------------------------------------- */

START_TEST(reports_the_losses_of_a_collector)
{
	static const struct {
		enum device_loss reason;
		bool is_a_drop;
		const char *stat;
		const char *warning;
	} rows[] = {
		{DEVICE_LOSS_DROPPED, true, "ptap_lost_device_vendor",
			"gpu: 3 kernels, 1 copy dropped: the vendor's library had no buffer"},
		{DEVICE_LOSS_INCOMPLETE, true, "ptap_lost_device_incomplete",
			"gpu: 3 kernels, 1 copy left out: their ends were not known"},
		{DEVICE_LOSS_CALLS, true, "ptap_lost_device_calls",
			"gpu: 3 kernels, 1 copy dropped: more than gpu_max_callback_api_events"},
		{DEVICE_LOSS_RECORDS, true, "ptap_lost_device_records",
			"gpu: 3 kernels, 1 copy dropped: more than gpu_max_activity_api_events"},
		{DEVICE_LOSS_INVALID, true, "ptap_lost_device_invalid",
			"gpu: 3 kernels, 1 copy dropped: the vendor's library delivered"},
		{DEVICE_LOSS_ANNOTATIONS, false, "ptap_lost_device_annotations",
			"gpu: 3 kernels, 1 copy without annotations"},
		{DEVICE_LOSS_NAMES, false, "ptap_lost_device_names",
			"gpu: 3 kernels, 1 copy without their names: the program's table of names"},
	};

	put_loss(rows[_i].reason, DEVICE_KERNEL, 2);
	put_loss(rows[_i].reason, DEVICE_KERNEL, 1);
	put_loss(rows[_i].reason, DEVICE_COPY, 1);
	log_assemble();
	ck_assert_uint_eq(log_plane_stat(rows[_i].stat), 4);
	ck_assert_uint_eq(log_plane_stat("dropped_traces"), rows[_i].is_a_drop ? 4 : 0);
	ck_assert_msg(log_has_warning(rows[_i].warning), "%s", names_get(&logs.space->warnings, 0));
	ck_assert_uint_eq(logs.space->warnings.n_texts, 1);
}
END_TEST

START_TEST(adds_up_without_running_over)
{
	put_loss(DEVICE_LOSS_DROPPED, 0, UINT64_MAX);
	put_loss(DEVICE_LOSS_DROPPED, 0, 5);
	put_loss(DEVICE_LOSS_CALLS, DEVICE_KERNEL, 5);
	log_assemble();
	ck_assert_uint_eq(log_plane_stat("ptap_lost_device_vendor"), UINT64_MAX);
	ck_assert_uint_eq(log_plane_stat("dropped_traces"), UINT64_MAX);
	ck_assert(log_has_warning("gpu: 18446744073709551615 records dropped"));
}
END_TEST

/* --- losses that the server notices -------------------------------------------------------- */

START_TEST(counts_records_without_a_clock_as_lost)
{
	device_put_kernel(collector, "a", 1, 100, 200);
	device_put_kernel(collector, "b", 2, 100, 200);
	log_assemble();
	ck_assert_uint_eq(log_plane_stat("ptap_lost_device_unplaced"), 2);
	ck_assert_uint_eq(log_plane_stat("dropped_traces"), 2);
	ck_assert(log_has_warning("gpu: 2 records of devices dropped: the zero time"));
	ck_assert_uint_eq(device_plane("/device:GPU:0")->n_lines, 0);
}
END_TEST

START_TEST(says_that_the_clock_was_set)
{
	struct device_entry e = device_make(DEVICE_ANCHOR, 0, 0);

	e.end_ns = 777;
	device_put(collector, NULL, &e);
	e = device_make(DEVICE_ANCHOR, 3600000000000, 0);
	e.end_ns = 777 + DEVICE_STOP_NS;
	device_put(collector, NULL, &e);
	device_put_kernel(collector, "a", 1, 100, 200);
	log_assemble();
	ck_assert(log_has_warning("gpu: the collector's clock was set"));
	ck_assert_int_eq(device_plane("/device:GPU:0")->lines[0].events[0].start_ns, 100);
}
END_TEST

START_TEST(keeps_within_the_captures_memory)
{
	struct memory_budget keep = {.max_bytes = 200 << 10};
	struct assembly *as;
	uint64_t n;

	device_put_anchors(collector);
	for (int64_t i = 0; i < 20000; i++)
		device_put_kernel(collector, "a", 0, i * 10, i * 10 + 5);
	ck_assert_int_eq(assembly_new(&fixture.target, LOG_START_TICKS, LOG_START_TICKS, &as), 0);
	devices_set_keep(&as->devices, &keep);
	log_assemble_with(as);
	n = device_plane("/device:GPU:0")->lines[0].n_events;
	ck_assert_uint_gt(n, 1000);
	ck_assert_uint_le(n * sizeof(struct device_event), 200 << 10);
	ck_assert_uint_eq(log_plane_stat("ptap_lost_device_memory"), 20000 - n);
	ck_assert(log_has_warning("of devices dropped: the capture's memory was full"));
	ck_assert_uint_le(keep.used_bytes, keep.max_bytes);
}
END_TEST

START_TEST(pays_for_names_of_counters)
{
	struct memory_budget keep = {.max_bytes = 200 << 10};
	struct device_entry e = device_make(DEVICE_COUNTER, 100, 200);
	char name[1001];
	struct assembly *as;
	uint64_t n;

	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	device_put_anchors(collector);
	for (unsigned i = 0; i < 400; i++) {
		memcpy(name, (char[]){(char)('a' + i / 26), (char)('a' + i % 26)}, 2);
		device_put(collector, name, &e);
	}
	ck_assert_int_eq(assembly_new(&fixture.target, LOG_START_TICKS, LOG_START_TICKS, &as), 0);
	devices_set_keep(&as->devices, &keep);
	log_assemble_with(as);
	n = device_plane("/device:GPU:0")->n_lines;
	ck_assert_uint_gt(n, 50);
	ck_assert_uint_le(n * (sizeof name + sizeof(struct device_event)), 200 << 10);
	ck_assert_uint_eq(log_plane_stat("ptap_lost_device_memory"), 400 - n);
	ck_assert_uint_le(keep.used_bytes, keep.max_bytes);
}
END_TEST

/* --- invalid records ----------------------------------------------------------------------- */

static void expect_damaged(uint64_t n)
{
	_cleanup_(chunks_deinit) struct chunks out = CHUNKS_INIT;

	log_assemble();
	ck_assert_uint_eq(log_plane_stat("ptap_lost_device_damaged"), n);
	ck_assert_uint_eq(log_plane_stat("dropped_traces"), n);
	ck_assert_int_eq(xspace_encode(logs.space, &out), 0);
}

START_TEST(refuses_impossible_kinds)
{
	struct device_entry e = device_make(DEVICE_KERNEL, 100, 200);

	e.kind = 0;
	device_put_bytes(collector, "a", &e, sizeof e);
	e.kind = DEVICE_KINDS;
	device_put_bytes(collector, "a", &e, sizeof e);
	e.kind = 255;
	device_put_bytes(collector, "a", &e, sizeof e);
	expect_damaged(3);
}
END_TEST

START_TEST(refuses_records_shorter_than_their_kind)
{
	uint64_t n = 0;

	for (unsigned kind = 1; kind < DEVICE_KINDS; kind++) {
		struct device_entry e = device_make(kind, 100, 200);
		uint32_t n_needed = device_entry_bytes(kind);

		e.correlation = UINT64_MAX;
		for (uint32_t k = 0; k < n_needed; k += SLOT_BYTES, n++)
			device_put_bytes(collector, "a", &e, k);
	}
	expect_damaged(n);
}
END_TEST

START_TEST(refuses_impossible_devices_and_collectors)
{
	struct device_entry e = device_make(DEVICE_KERNEL, 100, 200);

	e.device = DEVICES_MAX_ORDINAL + 1;
	device_put(collector, "a", &e);
	e.device = UINT16_MAX;
	device_put(collector, "a", &e);
	e.device = 0;
	e.collector = DEVICES_MAX_COLLECTORS;
	device_put(collector, "a", &e);
	expect_damaged(3);
}
END_TEST

START_TEST(refuses_records_that_end_before_their_start)
{
	device_put_anchors(collector);
	device_put_kernel(collector, "a", 1, 200, 100);
	device_put_kernel(collector, "b", 1, 100, 100);
	expect_damaged(1);
	ck_assert_uint_eq(device_plane("/device:GPU:0")->lines[0].n_events, 1);
}
END_TEST

START_TEST(refuses_losses_of_nothing)
{
	put_loss(0, 0, 5);
	put_loss(DEVICE_LOSSES, 0, 5);
	put_loss(DEVICE_LOSS_CALLS, DEVICE_KINDS, 5);
	expect_damaged(3);
}
END_TEST

START_TEST(refuses_calls_without_a_correlation)
{
	struct thread_log *app = log_add(100, "main");

	for (enum record_kind kind = RECORD_LAUNCH; kind <= RECORD_NODE; kind++) {
		log_put(app, kind, fixture_add_string("call"), 40, 40, 0, 0);
		log_put(app, kind, fixture_add_string("call"), 80, 40, 0, 1);
		log_put_slot(app, slot_word0(0, SLOT_U64, 0), 1);
		log_put(app, kind, fixture_add_string("call"), 120, 40, 0, 2);
		log_put_slot(app, slot_word0(0, SLOT_U64, 0), 1);
		log_put_slot(app, slot_word0(0, SLOT_F64, 0), 1);
	}
	/* This launch of a graph does not tell which graph. */
	log_put(app, RECORD_LAUNCH, fixture_add_string("call"), 160, 40, 0, 2);
	log_put_slot(app, slot_word0(0, SLOT_U64, 0), 1);
	log_put_slot(app, slot_word0(0, SLOT_U64, 0), launch_where(0, 1, LAUNCH_IS_GRAPH));
	log_assemble();
	ck_assert_uint_eq(log_plane_stat("ptap_lost_invalid"), 7);
	ck_assert_uint_eq(logs.plane->n_lines, 0);
}
END_TEST

/* Random bytes in nearly valid records give a trace that can be encoded and read again. */
START_TEST(survives_anything)
{
	_cleanup_(chunks_deinit) struct chunks out = CHUNKS_INIT;
	struct thread_log *app = log_add(100, "main");

	srand((unsigned)_i);
	device_put_anchors(collector);
	for (int i = 0; i < 2000; i++) {
		struct device_entry e = device_make((enum device_kind)(rand() % 16),
			rand() % 2000000 - 500000, rand() % 2000000);
		uint8_t *bytes = (uint8_t *)&e;

		for (size_t k = sizeof e; k-- > DEVICE_HEAD_BYTES;)
			bytes[k] = (uint8_t)(rand() % 3 ? 0 : rand());
		if (rand() % 4 == 0)
			bytes[rand() % DEVICE_HEAD_BYTES] = (uint8_t)rand();
		e.correlation = (uint64_t)rand() % 50;
		e.device = (uint16_t)(rand() % 4 ? 0 : rand());
		e.stream = (uint64_t)rand() % 8;
		device_put_bytes(rand() % 10 ? collector : app, rand() % 5 ? "_ZN1a1bIfEEvv" : NULL,
			&e, (uint32_t)rand() % 6 ? sizeof e : (uint32_t)rand() % sizeof e);
	}
	log_assemble();
	ck_assert_int_eq(xspace_encode(logs.space, &out), 0);
	for (size_t i = 0; i < out.n_chunks; i++)
		if (out.n_chunks == 1)
			space_free(spooled_decode(out.chunks[0].data, out.chunks[0].used_bytes));
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_LOOP(reports_the_losses_of_a_collector, 7),
	UNIT_TEST(adds_up_without_running_over),
	UNIT_TEST(counts_records_without_a_clock_as_lost),
	UNIT_TEST(says_that_the_clock_was_set),
	UNIT_TEST(keeps_within_the_captures_memory),
	UNIT_TEST(pays_for_names_of_counters),
	UNIT_TEST(refuses_impossible_kinds),
	UNIT_TEST(refuses_records_shorter_than_their_kind),
	UNIT_TEST(refuses_impossible_devices_and_collectors),
	UNIT_TEST(refuses_records_that_end_before_their_start),
	UNIT_TEST(refuses_losses_of_nothing),
	UNIT_TEST(refuses_calls_without_a_correlation),
	UNIT_LOOP(survives_anything, 10),
	{NULL},
};

UNIT_MAIN("device_losses", .set_up = setup, .tear_down = log_close, .tests = tests)
