/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the distinct stacks of tracks, one track after the other. */
#include "trace/codec/stack_tree.h"

#include <check.h>
#include <stdio.h>

#include "tests/unit/space_fixture.h"
#include "tests/unit/unit.h"
#include "tests/unit/view_fixture.h"
#include "trace/codec/span_reader.h"

static struct stack_tree tree;

static void set_up(void)
{
	space_fixture_open();
	view_fixture_open();
	tree = (struct stack_tree){NULL};
}

static void tear_down(void)
{
	stack_tree_deinit(&tree);
	view_fixture_close();
	space_fixture_close();
}

static void add_stacks(int n)
{
	char name[16];

	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof name, "n%d", i);
		add(name, 10 * i, 5, 0);
	}
}

static void open_view(void)
{
	static const struct view_options plain = {.align = VIEW_ALIGN_EPOCH};

	view_add_space(space, "a.xplane.pb");
	view_make(&plain);
}

static void fill(const char *track)
{
	ck_assert_int_eq(stack_tree_read(&tree, view, view_find_track(track), NULL), 0);
}

START_TEST(same_stacks_are_one)
{
	add("a", 0, 100, 0);
	add("b", 10, 20, 0);
	add("b", 40, 30, 0);
	add("b", 200, 1, 0);
	open_view();
	fill("main");
	ck_assert_uint_eq(tree.n_nodes, 1 + 3);
	ck_assert_int_eq(tree.nodes[1].self_ns, 50);
	ck_assert_uint_eq(tree.nodes[2].n_spans, 2);
	ck_assert_int_eq(tree.nodes[2].self_ns, 50);
	ck_assert_uint_eq(tree.nodes[3].parent, 0);
}
END_TEST

/*
 * The cost of a track depends on its own stacks only: a file may have a million
 * tracks with one span each.
 */
START_TEST(small_tracks_are_cheap_after_a_large_one)
{
	add_stacks(10000);
	line = plane_add_line(plane, 43, "small", 0);
	add_stacks(3);
	open_view();
	fill("main");
	ck_assert_uint_eq(tree.n_nodes, 1 + 10000);
	fill("small");
	fill("small");
	ck_assert_uint_eq(tree.n_nodes, 1 + 3);
	ck_assert_uint_le(tree.table.n_slots, 1024);
	fill("main");
	ck_assert_uint_eq(tree.n_nodes, 1 + 10000);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(same_stacks_are_one),
	UNIT_TEST(small_tracks_are_cheap_after_a_large_one),
	{NULL},
};

UNIT_MAIN("stack_tree", .set_up = set_up, .tear_down = tear_down, .tests = tests)
