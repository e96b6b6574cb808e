/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests cancelled work: each long step of a capture's end gives up when no client wants the result.
 */
#include "base/cancel.h"

#include <check.h>

#include "base/chunks.h"
#include "daemon/pipeline/assembly/assembly.h"
#include "daemon/pipeline/assembly/asyncs.h"
#include "daemon/pipeline/assembly/counters.h"
#include "daemon/pipeline/assembly/events.h"
#include "daemon/pipeline/assembly/stats.h"
#include "daemon/target/entry.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/log_fixture.h"
#include "tests/unit/unit.h"
#include "trace/xspace/xspace.h"

static _Atomic int raised = 1;
static _Atomic int lowered = 0;

START_TEST(looks_at_the_flag_now_and_then)
{
	int n = 0;

	ck_assert_int_eq(cancel_check(NULL), 0);
	ck_assert_int_eq(cancel_check(&lowered), 0);
	ck_assert_int_eq(cancel_check(&raised), -ECANCELED);
	for (size_t i = 0; i < 100000; i++) {
		ck_assert_int_eq(cancel_check_at(&lowered, i), 0);
		n += cancel_check_at(&raised, i) != 0;
	}
	ck_assert_int_ge(n, 10);
	ck_assert_int_le(n, 100);
}
END_TEST

START_TEST(cancelled_chunks_take_no_more_bytes)
{
	struct chunks c = CHUNKS_INIT;

	c.cancel = &lowered;
	chunks_append(&c, "a", 1);
	ck_assert_int_eq(c.error, 0);
	c.cancel = &raised;
	chunks_append(&c, "b", 1);
	ck_assert_int_eq(c.error, -ECANCELED);
	ck_assert_uint_eq(c.total_bytes, 1);
	chunks_deinit(&c);
}
END_TEST

START_TEST(a_trace_is_not_encoded)
{
	struct chunks c = CHUNKS_INIT;

	log_put_span(log_add(4711, "worker"), "a", 40, 80, 0);
	log_assemble();
	c.cancel = &raised;
	ck_assert_int_eq(xspace_encode(logs.space, &c), -ECANCELED);
	chunks_deinit(&c);
}
END_TEST

START_TEST(records_are_not_assembled)
{
	struct assemble_input in = {
		.drain = &logs.drain,
		.timeline = &logs.timeline,
		.start_ticks = LOG_START_TICKS,
		.stop_ticks = LOG_STOP_TICKS,
		.uses_ticks = 1,
		.plane_name = PLANE_HOST,
		.cancel = &raised,
	};
	struct thread_log *log = log_add(4711, "worker");
	struct assembly *as = NULL;

	log_put_span(log, "first", 40, 80, 0);
	log_put_span(log, "second", 80, 120, 0);
	ck_assert_int_eq(space_new(&logs.space), 0);
	ck_assert_int_eq(assemble_host_plane(&in, logs.space), -ECANCELED);
	ck_assert_uint_eq(logs.space->n_planes, 0);
	ck_assert_int_eq(assembly_new(&fixture.target, LOG_START_TICKS, LOG_START_TICKS, &as), 0);
	as->timeline = &logs.timeline;
	as->cancel = &raised;
	ck_assert_int_eq(assembly_add(as, log->slots, log->n_slots), -ECANCELED);
	ck_assert_uint_eq(names_find(&as->plane->event_names, "second"), NAMES_NONE);
	assembly_free(as);
}
END_TEST

START_TEST(events_are_not_ordered)
{
	struct events events = {.n = 0};
	struct trace_event event = {.start_ns = 1};
	struct trace_event room[1];
	struct line line = {.events = room, .n_allocated = 1};

	ck_assert_int_eq(events_push(&events, &event, 0), 0);
	ck_assert_int_eq(events_order_by_start(&events, &line, &raised), -ECANCELED);
	ck_assert_uint_eq(line.n_events, 0);
	ck_assert_int_eq(events_order_by_start(&events, &line, &lowered), 0);
	ck_assert_uint_eq(line.n_events, 1);
	events_deinit(&events);
}
END_TEST

START_TEST(async_spans_are_not_matched)
{
	struct assemble_input in = {.timeline = &logs.timeline, .cancel = &raised};
	struct entry e = {.kind = RECORD_ASYNC_BEGIN, .start = LOG_START_TICKS};
	struct asyncs asyncs = {.n_marks = 0};
	struct stats stats = {.error = 0};

	log_assemble();
	ck_assert_int_eq(asyncs_add(&asyncs, &e, 0, 1, NULL, 0), 0);
	ck_assert_int_eq(asyncs_add_lines(&asyncs, &in, logs.plane, &stats), -ECANCELED);
	ck_assert_uint_eq(logs.plane->n_lines, 0);
	asyncs_deinit(&asyncs);
}
END_TEST

START_TEST(counters_get_no_lines)
{
	struct counter_table counters = {.n_series = 0};
	struct trace_event event = {.start_ns = 1};

	log_assemble();
	ck_assert_int_eq(counters_add(&counters, logs.plane, &event), 0);
	ck_assert_int_eq(counters_add_lines(&counters, logs.plane, &raised), -ECANCELED);
	ck_assert_int_eq(counters_add_lines(&counters, logs.plane, NULL), 0);
	counters_deinit(&counters);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(looks_at_the_flag_now_and_then),
	UNIT_TEST(cancelled_chunks_take_no_more_bytes),
	UNIT_TEST(a_trace_is_not_encoded),
	UNIT_TEST(records_are_not_assembled),
	UNIT_TEST(events_are_not_ordered),
	UNIT_TEST(async_spans_are_not_matched),
	UNIT_TEST(counters_get_no_lines),
	{NULL},
};

UNIT_MAIN("cancel", .set_up = log_open, .tear_down = log_close, .tests = tests)
