/* SPDX-License-Identifier: Apache-2.0 */
/* Tests finding the span around a call, in whatever order both come. */
#include "daemon/pipeline/devices/launches.h"

#include <check.h>
#include <stdlib.h>

#include "daemon/kernel/memory_budget.h"
#include "tests/unit/unit.h"

static struct launch_table launches;
static struct launch_stack stack;
static struct memory_budget keep;
static struct purse purse;

static void setup(void)
{
	keep = (struct memory_budget){.max_bytes = UINT64_MAX};
	purse = (struct purse){.keep = &keep};
}

static void teardown(void)
{
	launches_deinit(&launches);
	launch_stack_deinit(&stack);
}

/* --- one thread ---------------------------------------------------------------------------- */

static void add_call(uint64_t id, uint64_t start, unsigned depth)
{
	struct launch_site site = {.id = id, .value = start};

	ck_assert_int_eq(
		launches_add(&launches, &stack, LAUNCH_CALL, &site, start, depth, &purse), 0);
}

static void add_node(uint64_t id, uint64_t original, uint64_t start, unsigned depth)
{
	struct launch_site site = {.id = id, .value = original};

	ck_assert_int_eq(
		launches_add(&launches, &stack, LAUNCH_NODE, &site, start, depth, &purse), 0);
}

static void end_span(uint32_t name, uint64_t start, unsigned depth)
{
	if (launch_stack_wants(&stack, start, depth))
		launches_end_span(&launches, &stack, start, depth, name);
}

static void end_all(void)
{
	launches_end_thread(&launches, &stack);
	launches_settle(&launches);
}

static uint32_t find(uint64_t id, int64_t start)
{
	size_t near = 0;

	return launches_find_call(&launches, id, start, &near);
}

START_TEST(finds_the_outermost_span)
{
	add_call(1, 10, 0);
	add_call(2, 24, 2);
	end_span(3, 22, 1);
	add_call(3, 30, 1);
	end_span(4, 20, 0);
	add_call(4, 50, 1);
	end_span(5, 45, 0);
	end_all();
	ck_assert_uint_eq(find(1, 10), 0);
	ck_assert_uint_eq(find(2, 24), 4);
	ck_assert_uint_eq(find(3, 30), 4);
	ck_assert_uint_eq(find(4, 50), 5);
	ck_assert_uint_eq(find(5, 50), 0);
}
END_TEST

START_TEST(does_not_count_steps)
{
	add_call(1, 24, 2);
	end_span(3, 22, 1);
	add_call(2, 30, 1);
	end_span(0, 20, 0);
	/* Here the step is inside of the span, and not around it. */
	add_call(3, 44, 2);
	end_span(0, 42, 1);
	end_span(7, 40, 0);
	end_all();
	ck_assert_uint_eq(find(1, 24), 3);
	ck_assert_uint_eq(find(2, 30), 0);
	ck_assert_uint_eq(find(3, 44), 7);
}
END_TEST

/* A runtime call contains the driver's call, which has the same number and ends first. */
START_TEST(knows_calls_in_calls)
{
	add_call(9, 24, 2);
	add_call(9, 22, 1);
	end_span(6, 20, 0);
	end_all();
	ck_assert_uint_eq(find(9, 100), 6);
	ck_assert_uint_eq(find(9, 23), 6);
}
END_TEST

/* An outer span was lost, or is of a level that is not recorded. */
START_TEST(finds_the_outermost_recorded_span)
{
	add_call(1, 24, 3);
	end_span(3, 22, 2);
	add_call(2, 124, 2);
	end_span(4, 122, 1);
	end_span(5, 120, 0);
	end_all();
	ck_assert_uint_eq(find(1, 24), 3);
	ck_assert_uint_eq(find(2, 124), 5);
}
END_TEST

START_TEST(tells_calls_of_one_number_apart_by_time)
{
	static const uint64_t starts[] = {100, 200, 300};

	for (uint32_t i = 0; i < 3; i++) {
		add_call(7, starts[i], 1);
		end_span(i + 1, starts[i] - 10, 0);
	}
	add_call(6, 1, 0);
	add_call(8, 1, 0);
	end_all();
	ck_assert_uint_eq(find(7, 250), 2);
	ck_assert_uint_eq(find(7, 100), 1);
	ck_assert_uint_eq(find(7, 1000), 3);
	/* The device's clock is a little behind. */
	ck_assert_uint_eq(find(7, 99), 1);
	ck_assert_uint_eq(find(7, -5), 1);
}
END_TEST

START_TEST(follows_nodes_to_where_they_were_made)
{
	add_node(10, 0, 24, 1);
	end_span(3, 20, 0);
	/* Node 11 is an instance of node 10, made elsewhere, and node 12 one of node 11. */
	add_node(11, 10, 44, 1);
	end_span(4, 40, 0);
	add_node(12, 11, 60, 0);
	/* The original of this node is unknown. */
	add_node(13, 99, 84, 1);
	end_span(5, 80, 0);
	/* Each of these two nodes comes from the other one. */
	add_node(20, 21, 100, 0);
	add_node(21, 20, 100, 0);
	end_all();
	ck_assert_uint_eq(launches_find_node(&launches, 10), 3);
	ck_assert_uint_eq(launches_find_node(&launches, 11), 3);
	ck_assert_uint_eq(launches_find_node(&launches, 12), 3);
	ck_assert_uint_eq(launches_find_node(&launches, 13), 5);
	ck_assert_uint_eq(launches_find_node(&launches, 99), 0);
	ck_assert_uint_eq(launches_find_node(&launches, 0), 0);
	ck_assert_uint_eq(launches_find_node(&launches, 20), 0);
}
END_TEST

START_TEST(keeps_within_its_memory)
{
	keep.max_bytes = PURSE_BYTES;
	for (uint64_t i = 1; i <= 100000; i++)
		add_call(i, i * 10, 1);
	end_span(1, 5, 0);
	end_all();
	ck_assert_uint_gt(launches.n_crowded, 0);
	ck_assert_uint_eq(launches.n_crowded + launches.sites[LAUNCH_CALL].n, 100000);
	ck_assert_uint_le(launches.sites[LAUNCH_CALL].n * sizeof(struct launch_site), PURSE_BYTES);
	ck_assert_uint_eq(find(1, 10), 1);
	ck_assert_uint_eq(find(100000, 1000000), 0);
}
END_TEST

/* --- at random ----------------------------------------------------------------------------- */

#define N_CALLS 2000

static uint32_t expected[N_CALLS + 1];
static uint32_t n_calls;
static uint64_t now;

/*
 * Makes random spans and calls of a thread within |outermost| (0: there is none yet), with
 * |depth| spans around them.
 */
static void do_some(uint32_t outermost, unsigned depth)
{
	for (int n = 1 + rand() % 6; n > 0 && n_calls < N_CALLS; n--) {
		uint64_t start = now += (uint64_t)rand() % 3;
		bool is_step = rand() % 5 == 0;
		uint32_t name = is_step ? 0 : 1 + (uint32_t)rand() % 50;

		if (rand() % 2 || depth == 6) {
			expected[++n_calls] = outermost;
			add_call(n_calls, start, depth);
			continue;
		}
		do_some(outermost ? outermost : name, depth + 1);
		end_span(name, start, depth);
		now++;
	}
}

START_TEST(is_right_of_any_tree)
{
	size_t near = 0;

	srand((unsigned)_i);
	n_calls = 0;
	now = 1;
	while (n_calls < N_CALLS) {
		now += 2;
		do_some(0, 0);
	}
	end_all();
	for (uint32_t i = 1; i <= N_CALLS; i++) {
		uint32_t any = 1 + (uint32_t)rand() % N_CALLS;

		ck_assert_uint_eq(launches_find_call(&launches, i, INT64_MAX, &near), expected[i]);
		if (i % 7 == 0)
			ck_assert_uint_eq(launches_find_call(&launches, any, INT64_MAX, &near),
				expected[any]);
	}
}
END_TEST

/* Calls and spans of several threads reach the spool in turns. */
START_TEST(finds_spans_of_all_threads)
{
	struct launch_stack stacks[8] = {{NULL, 0, 0}};

	srand((unsigned)_i);
	for (uint64_t i = 1; i <= N_CALLS; i++) {
		uint64_t id = i ^ 0x155;
		unsigned t = (unsigned)rand() % 8;
		struct launch_site site = {.id = id, .value = i * 10};

		ck_assert_int_eq(
			launches_add(&launches, &stacks[t], LAUNCH_CALL, &site, i * 10, 1, &purse),
			0);
		launches_end_span(&launches, &stacks[t], i * 10 - 1, 0, (uint32_t)(id % 97) + 1);
	}
	launches_settle(&launches);
	for (uint64_t id = 1; id <= N_CALLS; id++)
		if ((id ^ 0x155) >= 1 && (id ^ 0x155) <= N_CALLS)
			ck_assert_uint_eq(find(id, INT64_MAX), (uint32_t)(id % 97) + 1);
	for (int i = 0; i < 8; i++)
		launch_stack_deinit(&stacks[i]);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(finds_the_outermost_span),
	UNIT_TEST(does_not_count_steps),
	UNIT_TEST(knows_calls_in_calls),
	UNIT_TEST(finds_the_outermost_recorded_span),
	UNIT_TEST(tells_calls_of_one_number_apart_by_time),
	UNIT_TEST(follows_nodes_to_where_they_were_made),
	UNIT_TEST(keeps_within_its_memory),
	UNIT_LOOP(is_right_of_any_tree, 20),
	UNIT_LOOP(finds_spans_of_all_threads, 5),
	{NULL},
};

UNIT_MAIN("launches", .set_up = setup, .tear_down = teardown, .tests = tests)
