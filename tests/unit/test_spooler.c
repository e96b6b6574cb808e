/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests a spooler in memory, with and without a second thread: it overwrites the slots that it has
 * read. The bytes are the same as those of a trace that is assembled as a whole.
 */
#include "daemon/pipeline/assembly/spooler.h"

#include <check.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "daemon/pipeline/assembly/assembly.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/assembly/used_rooms.h"
#include "daemon/pipeline/drain/thread_log.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/log_fixture.h"
#include "tests/unit/spool_fixture.h"
#include "tests/unit/unit.h"

#define N_SLOTS 150000u

static uint8_t *assemble(struct spooler *spooler, struct assembly *as, size_t *n_out)
{
	struct delivery *d;
	uint8_t *bytes;

	log_assemble_with(as);
	d = spooled_deliver(logs.space, spooler ? spooler_get_spool(spooler) : NULL, 0);
	logs.space = space_free(logs.space);
	bytes = spooled_flatten(d, n_out);
	delivery_free(d);
	return bytes;
}

static struct spooler *new_spooler(int encodes_apart)
{
	const struct spooler_config config = {
		.in_memory = 1,
		.max_bytes = UINT64_C(64) << 20,
		.keep_bytes = UINT64_C(64) << 20,
		.uses_ticks = 1,
		.encodes_apart = encodes_apart,
	};
	struct spooler *spooler;
	struct diag d = DIAG_INIT;

	ck_assert_msg(spooler_new(&config, &spooler, &d) == 0, "%s", d.text);
	return spooler;
}

static void run_on_one_processor(void)
{
	cpu_set_t set;

	ck_assert_int_eq(sched_getaffinity(0, sizeof set, &set), 0);
	for (int i = 0, seen = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set) && seen++)
			CPU_CLR(i, &set);
	ck_assert_int_eq(sched_setaffinity(0, sizeof set, &set), 0);
}

/*
 * Fills the log with events that take more bytes than their slots: names beyond
 * the 128th, and long times.
 */
static void fill_wide(struct thread_log *log)
{
	char name[16];

	for (uint64_t i = 0; i < 200; i++) {
		snprintf(name, sizeof name, "name %d", (int)i);
		log_put_span(log, name, 40 + i, 41 + i, 0);
	}
	for (uint64_t i = 1; i <= N_SLOTS; i++)
		log_put_span(log, name, i << 30, (i << 30) + (1 << 30) - 4, 0);
}

static void fill_nested(struct thread_log *log)
{
	for (uint64_t i = 0; i < N_SLOTS / 2; i++) {
		uint64_t start = 40 + i * 40;

		log_put_span(log, "inner", start + 8, start + 20, 2);
		log_put_span(log, "middle", start, start + 32, 1);
		if (i % 10 == 9)
			log_put_span(log, "outer", start - 360 - 4, start + 36, 0);
	}
}

/* |_i|: flat or nested spans; without a second thread, with one, or with both on one processor. */
START_TEST(writes_the_same_trace_as_one_assembled_whole)
{
	struct thread_log *log = log_add(1, "t");
	int encodes_apart = _i / 2;
	struct spooler *spooler;
	struct assembly *as;
	uint8_t *expected;
	uint8_t *got;
	size_t n_expected;
	size_t n;

	if (_i % 2)
		fill_wide(log);
	else
		fill_nested(log);
	expected = assemble(NULL, NULL, &n_expected);
	if (encodes_apart == 2)
		run_on_one_processor();
	spooler = new_spooler(encodes_apart);
	ck_assert_int_eq(assembly_new(&fixture.target, LOG_START_TICKS, LOG_START_TICKS, &as), 0);
	spooler_adopt(spooler, as);
	logs.budget.sink = spooler_get_sink(spooler);
	ck_assert_int_eq(thread_log_give(log, &logs.budget, as, &logs.timeline), 0);
	logs.budget.sink = NULL;
	ck_assert_int_eq(spooler_finish(spooler), 0);
	got = assemble(spooler, as, &n);
	ck_assert_uint_eq(n, n_expected);
	ck_assert(memcmp(got, expected, n) == 0);
	spooler_free(spooler);
	free(expected);
	free(got);
}
END_TEST

/* The waiting slots are lost, because the end does not wait for them. */
START_TEST(an_early_end_does_not_wait_for_slots)
{
	struct thread_log *log = log_add(1, "t");
	struct spooler *spooler = new_spooler(1);
	struct assembly *as;

	fill_wide(log);
	ck_assert_int_eq(assembly_new(&fixture.target, LOG_START_TICKS, LOG_START_TICKS, &as), 0);
	spooler_adopt(spooler, as);
	logs.budget.sink = spooler_get_sink(spooler);
	ck_assert_int_eq(thread_log_give(log, &logs.budget, as, &logs.timeline), 0);
	logs.budget.sink = NULL;
	spooler_free(spooler);
	assembly_free(as);
}
END_TEST

START_TEST(a_used_room_is_found_once_nobody_reads_from_there)
{
	struct used_rooms rooms;
	uint8_t *first = malloc(100);
	uint8_t *second = malloc(100);

	used_rooms_init(&rooms);
	ck_assert_ptr_null(used_rooms_find(&rooms, 1));
	ck_assert_int_eq(used_rooms_add(&rooms, first), 0);
	ck_assert_ptr_null(used_rooms_find(&rooms, 1));
	used_rooms_let_go(&rooms, 40);
	ck_assert_ptr_null(used_rooms_find(&rooms, 41));
	ck_assert_ptr_eq(used_rooms_find(&rooms, 40), first);
	used_rooms_take(&rooms, 30);
	ck_assert_ptr_null(used_rooms_find(&rooms, 20));
	used_rooms_let_go(&rooms, 100);
	ck_assert_int_eq(used_rooms_add(&rooms, second), 0);
	used_rooms_let_go(&rooms, 10);
	ck_assert_ptr_eq(used_rooms_find(&rooms, 20), first + 30);
	used_rooms_take(&rooms, 55);
	/* The rest of the first room is too small, and is not used later. */
	ck_assert_ptr_null(used_rooms_find(&rooms, 20));
	ck_assert_ptr_eq(used_rooms_find(&rooms, 10), second);
	used_rooms_deinit(&rooms);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_LOOP(writes_the_same_trace_as_one_assembled_whole, 6),
	UNIT_TEST(an_early_end_does_not_wait_for_slots),
	UNIT_TEST(a_used_room_is_found_once_nobody_reads_from_there),
	{NULL},
};

UNIT_MAIN("spooler", .set_up = log_open, .tear_down = log_close, .timeout_s = 60, .tests = tests)
