/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that random launches within random spans, and the devices' work for them, become
 * the same trace if they are assembled as a whole, and if they go through a spool in
 * parts that are cut anywhere.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/assembly/track.h"
#include "tests/unit/device_fixture.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/log_fixture.h"
#include "tests/unit/same_trace.h"
#include "tests/unit/spool_fixture.h"
#include "tests/unit/unit.h"

#define N_THREADS 3
#define N_NAMES 20

static struct thread_log *collector;
static uint32_t names[N_NAMES];
static uint64_t n_calls;

/* --- the program --------------------------------------------------------------------------- */

static void setup(void (*open)(void))
{
	open();
	for (unsigned i = 0; i < N_NAMES; i++) {
		char name[16];

		snprintf(name, sizeof name, "name%u", i);
		names[i] = fixture_add_string(name);
	}
	collector = log_add(500, "ptap-collect");
	device_put_anchors(collector);
	device_put_info(collector, 0, 1);
	n_calls = 0;
}

static void open_file(void)
{
	setup(spooled_open);
}

static void open_memory(void)
{
	setup(spooled_open_in_memory);
}

static void open_apart(void)
{
	setup(spooled_open_apart);
}

/*
 * Puts a kernel on one of four streams. Some are recorded before their
 * calls, and some have no call.
 */
static void put_kernel(uint64_t correlation, int64_t at)
{
	int64_t start = at + spooled_pick(5000);
	struct device_entry e = device_make(DEVICE_KERNEL, start, start + spooled_pick(3000));

	e.stream = 10 + spooled_pick(4);
	e.device = (uint16_t)spooled_pick(2);
	e.correlation = spooled_pick(10) ? correlation : 0;
	e.of.kernel.grid[0] = 1 + spooled_pick(20);
	e.of.kernel.block[0] = (uint16_t)(32 + 32 * spooled_pick(4));
	e.of.kernel.registers = (uint16_t)(16 * spooled_pick(8));
	log_put(collector, RECORD_DEVICE, names[spooled_pick(N_NAMES)], 0, 0, 0, 5);
	for (size_t i = 0; i < 5; i++) {
		uint64_t words[2];

		memcpy(words, (const char *)&e + i * sizeof words, sizeof words);
		log_put_slot(collector, words[0], words[1]);
	}
}

static int64_t put_call(struct thread_log *log, int64_t at, unsigned depth)
{
	uint64_t correlation = ++n_calls;

	log_put(log, RECORD_LAUNCH, names[spooled_pick(3)], (uint64_t)at * LOG_TICKS_PER_NS,
		2 * LOG_TICKS_PER_NS, depth, 2);
	log_put_slot(log, slot_word0(0, SLOT_U64, 0), correlation);
	log_put_slot(log, slot_word0(0, SLOT_U64, 0), launch_where(0, 1, 0));
	for (unsigned n = spooled_pick(4); n; n--)
		put_kernel(correlation, at);
	return at + 3;
}

static int64_t put_any(struct thread_log *log, int64_t at, unsigned depth)
{
	int64_t start = at;

	if (depth && (depth == 5 || spooled_pick(3) == 0))
		return put_call(log, at, depth);
	for (unsigned n = spooled_pick(4); n; n--)
		at = put_any(log, at + 1, depth + 1);
	log_put(log, RECORD_SPAN, names[spooled_pick(N_NAMES)], (uint64_t)start * LOG_TICKS_PER_NS,
		(uint64_t)(at + 1 - start) * LOG_TICKS_PER_NS, depth, 0);
	return at + 2;
}

static void fill(struct thread_log *log)
{
	for (int64_t at = 100; at < 60000;)
		at = put_any(log, at, 0) + spooled_pick(3);
}

/* --- in memory and through a spool --------------------------------------------------------- */

static uint8_t *deliver(struct spool *spool, size_t *n_out)
{
	struct delivery *d = spooled_deliver(logs.space, spool, 0);
	uint8_t *bytes = spooled_flatten(d, n_out);

	delivery_free(d);
	return bytes;
}

START_TEST(gives_the_same_trace_as_memory)
{
	static const unsigned max_parts[] = {7, 100, 3000, 50000};
	uint8_t *expected;
	uint8_t *got;
	size_t n_expected;
	size_t n;

	spooled.seed = 815 + (unsigned)_i;
	for (int i = 0; i < N_THREADS; i++)
		fill(log_add(100 + i, "worker"));
	log_assemble();
	ck_assert_uint_gt(device_plane("/device:GPU:1")->lines[0].n_events, 100);
	expected = deliver(NULL, &n_expected);
	logs.space = space_free(logs.space);
	spooled_begin();
	/* The collector's log is spooled first, last, or not at all. */
	for (size_t i = (size_t)_i % 3; i < logs.drain.n_logs; i++)
		spooled_put(logs.drain.logs[i], max_parts[_i % 4]);
	if (_i % 3 == 1)
		spooled_put(logs.drain.logs[0], max_parts[_i % 4]);
	spooled_assemble();
	ck_assert_uint_gt(device_plane("/device:GPU:1")->lines[0].n_stored, 100);
	/* Stats are kept only while their events are encoded. */
	ck_assert_uint_eq(device_plane("/device:GPU:1")->n_stats, 0);
	got = deliver(spooled.spool, &n);
	same_trace_expect(expected, n_expected, got, n);
	free(expected);
	free(got);
}
END_TEST

/*
 * Device records wait in memory, and need room in the spool later. Those that were kept are in the
 * trace, however full both are.
 */
START_TEST(encodes_all_records_that_were_kept)
{
	const uint64_t n_kernels = 20000;
	struct memory_budget keep = {.max_bytes = 1 << 20};
	struct diag d = DIAG_INIT;
	const struct line *line;

	spool_release(spooled.spool);
	spooled.spool = NULL;
	ck_assert_msg(spool_new("/tmp", keep.max_bytes, &spooled.spool, &d) == 0, "%s", d.text);
	keep.others = spool_watch_bytes(spooled.spool);
	spool_set_others(spooled.spool, &keep.used_bytes);
	for (uint64_t i = 1; i <= n_kernels; i++)
		device_put_kernel(collector, "kernel", i, (int64_t)i * 10, (int64_t)i * 10 + 5);
	spooled_begin();
	devices_set_keep(&spooled.assembly->devices, &keep);
	spooled_put(collector, 50000);
	spooled_assemble();
	line = device_line(device_plane("/device:GPU:0"), "Stream #7(Compute)");
	ck_assert_uint_gt(line->n_stored, n_kernels / 5);
	ck_assert_uint_lt(line->n_stored, n_kernels);
	ck_assert_uint_eq(log_plane_stat("ptap_lost_spool"), 0);
	ck_assert_uint_eq(log_plane_stat("ptap_lost_device_memory"), n_kernels - line->n_stored);
	ck_assert_uint_le(spool_get_bytes(spooled.spool) + keep.used_bytes, keep.max_bytes);
}
END_TEST

static const struct unit_test full_tests[] = {
	UNIT_TEST(encodes_all_records_that_were_kept),
	{NULL},
};

static const struct unit_test same_tests[] = {
	UNIT_LOOP(gives_the_same_trace_as_memory, 8),
	{NULL},
};

#define CASE(name, open)                                                           \
	{                                                                          \
		name, .set_up = open, .tear_down = spooled_close, .timeout_s = 60, \
		      .tests = same_tests                                          \
	}

static const struct unit cases[] = {
	{"full", .set_up = open_file, .tear_down = spooled_close, .tests = full_tests},
	CASE("file", open_file),
	CASE("memory", open_memory),
	CASE("apart", open_apart),
	{NULL},
};

UNIT_MAIN_OF("devices_spooled", cases)
