/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the order of a line: start ascending, duration descending, in
 * whatever order the spans ended.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/guest_fixture.h"
#include "tests/unit/log_fixture.h"
#include "tests/unit/unit.h"

static struct thread_log *thread_log;
static uint32_t span_id;
static unsigned lose_one_in; /* 0: none is lost */

static void setup(void)
{
	log_open();
	thread_log = log_add(1, "t");
	span_id = fixture_add_string("span");
	lose_one_in = 0;
}

static unsigned pick(unsigned n)
{
	return (unsigned)rand() % n;
}

static void put(enum record_kind kind, uint64_t start, uint64_t end, unsigned depth)
{
	if (!lose_one_in || pick(lose_one_in))
		log_put(thread_log, kind, span_id, start, end - start, depth, 0);
}

/* Puts children of the span at |depth| - 1, from |at| on. Returns the end of the last one. */
static uint64_t put_children(uint64_t at, unsigned depth)
{
	unsigned n = pick(depth < 3 ? 6 : 3);

	for (unsigned i = 0; i < n; i++) {
		uint64_t start = at += pick(3) * pick(10);

		if (pick(5) == 0) {
			put(RECORD_INSTANT, at, at, depth);
			continue;
		}
		if (depth < 40)
			at = put_children(at + pick(3), depth + 1);
		at += 4 + pick(12);
		put(RECORD_SPAN, start, at, depth);
	}
	return at + pick(3);
}

static int compare(const void *a, const void *b)
{
	const struct trace_event *x = a;
	const struct trace_event *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->duration_ns != y->duration_ns)
		return x->duration_ns > y->duration_ns ? -1 : 1;
	return 0;
}

/* Returns the events of the records, sorted by the library. */
static struct trace_event *sort_records(void)
{
	struct trace_event *v = calloc(thread_log->n_slots + 1, sizeof *v);

	for (size_t i = 0; i < thread_log->n_slots; i++) {
		uint64_t start = fixture_start_of(&thread_log->slots[i]);
		uint64_t end;

		start = LOG_START_TICKS + ((start - LOG_START_TICKS) & RECORD_START_MASK);
		end = start + fixture_duration_of(&thread_log->slots[i]);
		v[i].start_ns = timeline_convert(&logs.timeline, start);
		v[i].duration_ns = timeline_convert(&logs.timeline, end) - v[i].start_ns;
	}
	qsort(v, thread_log->n_slots, sizeof *v, compare);
	return v;
}

static void expect_order(void)
{
	struct trace_event *expected = sort_records();
	const struct line *line;

	log_assemble();
	line = &logs.plane->lines[0];
	ck_assert_uint_eq(line->n_events, thread_log->n_slots);
	for (size_t i = 0; i < line->n_events; i++) {
		ck_assert_int_eq(line->events[i].start_ns, expected[i].start_ns);
		ck_assert_int_eq(line->events[i].duration_ns, expected[i].duration_ns);
	}
	free(expected);
}

START_TEST(orders_random_trees)
{
	uint64_t at = 0;

	srand((unsigned)_i);
	while (thread_log->n_slots < 500)
		at = put_children(at, 0);
	expect_order();
}
END_TEST

START_TEST(orders_random_trees_with_losses)
{
	uint64_t at = 0;

	srand((unsigned)_i);
	lose_one_in = 20;
	while (thread_log->n_slots < 500)
		at = put_children(at, 0);
	expect_order();
}
END_TEST

/* The records form no tree, because a clock went back, or a program writes at random. */
START_TEST(orders_spans_that_do_not_nest)
{
	srand((unsigned)_i);
	for (int i = 0; i < 500; i++) {
		uint64_t start = pick(2000);

		put(RECORD_SPAN, start, start + pick(2000), 0);
	}
	expect_order();
}
END_TEST

static void put_named(const char *name, uint64_t start, uint64_t end, unsigned depth)
{
	log_put_span(thread_log, name, start, end, depth);
}

static void expect_names(const char *const *names, size_t n)
{
	log_assemble();
	ck_assert_uint_eq(logs.plane->lines[0].n_events, n);
	for (size_t i = 0; i < n; i++)
		ck_assert_str_eq(log_event_name(0, i), names[i]);
}

START_TEST(puts_parents_before_children_of_the_same_time)
{
	static const char *const names[] = {"outer", "middle", "inner", "next"};

	put_named("inner", 40, 80, 2);
	put_named("middle", 40, 80, 1);
	put_named("outer", 40, 80, 0);
	put_named("next", 80, 120, 0);
	expect_names(names, 4);
}
END_TEST

START_TEST(puts_an_instant_behind_the_parent_that_began_with_it)
{
	static const char *const names[] = {"parent", "instant", "child"};

	log_put(thread_log, RECORD_INSTANT, fixture_add_string("instant"), 40, 0, 1, 0);
	put_named("child", 48, 60, 1);
	put_named("parent", 40, 80, 0);
	expect_names(names, 3);
}
END_TEST

START_TEST(puts_an_instant_at_the_end_behind_the_span)
{
	static const char *const names[] = {"parent", "child", "instant"};

	put_named("child", 48, 60, 1);
	log_put(thread_log, RECORD_INSTANT, fixture_add_string("instant"), 60, 0, 1, 0);
	put_named("parent", 40, 60, 0);
	expect_names(names, 3);
}
END_TEST

/* Spans that are shorter than the clock's step can be told apart only by their depth. */
START_TEST(puts_parents_before_children_of_no_length)
{
	static const char *const names[] = {"outer", "middle", "inner"};

	put_named("inner", 40, 40, 2);
	put_named("middle", 40, 40, 1);
	put_named("outer", 40, 40, 0);
	expect_names(names, 3);
}
END_TEST

START_TEST(keeps_siblings_of_no_length_in_order)
{
	static const char *const names[] = {"first", "second", "third"};

	put_named("first", 40, 40, 0);
	put_named("second", 40, 40, 0);
	put_named("third", 40, 40, 0);
	expect_names(names, 3);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_LOOP(orders_random_trees, 20),
	UNIT_LOOP(orders_random_trees_with_losses, 20),
	UNIT_LOOP(orders_spans_that_do_not_nest, 10),
	UNIT_TEST(puts_parents_before_children_of_the_same_time),
	UNIT_TEST(puts_an_instant_behind_the_parent_that_began_with_it),
	UNIT_TEST(puts_an_instant_at_the_end_behind_the_span),
	UNIT_TEST(puts_parents_before_children_of_no_length),
	UNIT_TEST(keeps_siblings_of_no_length_in_order),
	{NULL},
};

UNIT_MAIN("order", .set_up = setup, .tear_down = log_close, .tests = tests)
