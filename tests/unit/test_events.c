/* SPDX-License-Identifier: Apache-2.0 */
/* Tests sorting events, which come in the order of their ends, by start. */
#include "daemon/pipeline/assembly/events.h"

#include <check.h>
#include <stdlib.h>

#include "base/grow.h"
#include "tests/unit/unit.h"
#include "trace/model/space.h"

/* Spans in the order of their ends; the name is the place in the result. */
struct span {
	int64_t start_ns;
	int64_t end_ns;
	unsigned depth;
	uint32_t place;
};

static const struct {
	size_t n;
	struct span spans[4];
} cases[] = {
	{0, {{0}}},
	{3, {{10, 20, 0, 0}, {20, 30, 0, 1}, {31, 31, 0, 2}}},
	{3, {{10, 20, 0, 0}, {30, 40, 1, 2}, {30, 50, 0, 1}}},
	{3, {{12, 20, 1, 1}, {10, 25, 0, 0}, {30, 40, 0, 2}}},
	{3, {{10, 10, 0, 0}, {10, 10, 0, 1}, {11, 12, 0, 2}}},
	{4, {{10, 20, 2, 2}, {10, 30, 1, 1}, {10, 40, 0, 0}, {50, 60, 0, 3}}},
};

/*
 * The line has room for few events, then for many. In the second turn, the events and the line may
 * have exchanged their memory.
 */
START_TEST(events_are_ordered_by_their_starts)
{
	struct events events = {.n = 0};
	struct line line = {.n_events = 0};

	for (int turn = 0; turn < 2; turn++) {
		ck_assert_int_eq(grow(&line.events, &line.n_allocated, turn ? 1000 : 4), 0);
		events.n = 0;
		for (size_t i = 0; i < cases[_i].n; i++) {
			const struct span *s = &cases[_i].spans[i];
			struct trace_event e = {.start_ns = s->start_ns,
				.duration_ns = s->end_ns - s->start_ns,
				.name = s->place};

			ck_assert_int_eq(events_push(&events, &e, s->depth), 0);
		}
		ck_assert_int_eq(events_order_by_start(&events, &line, NULL), 0);
		ck_assert_uint_eq(line.n_events, cases[_i].n);
		for (size_t i = 0; i < line.n_events; i++)
			ck_assert_uint_eq(line.events[i].name, i);
	}
	events_deinit(&events);
	free(line.events);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_LOOP(events_are_ordered_by_their_starts, sizeof cases / sizeof *cases),
	{NULL},
};

UNIT_MAIN("events", .tests = tests)
