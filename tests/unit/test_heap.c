/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the binary heap. */
#include "base/heap.h"

#include <check.h>
#include <stdint.h>

#include "tests/unit/unit.h"

#define N_ITEMS 1000

struct item {
	uint32_t rank;
	uint32_t mark; /* moves with |rank| */
};

static bool item_is_before(const void *a, const void *b)
{
	return ((const struct item *)a)->rank < ((const struct item *)b)->rank;
}

/* A sequence without repetition below 2^32, which is the same in each run. */
static uint32_t scramble(uint32_t i)
{
	return i * UINT32_C(2654435761);
}

static size_t fill(struct item *items)
{
	size_t n = 0;

	while (n < N_ITEMS) {
		uint32_t rank = scramble((uint32_t)n) % (N_ITEMS / 2);

		items[n++] = (struct item){rank, ~rank};
		heap_sift_up(items, n, sizeof *items, item_is_before);
	}
	return n;
}

START_TEST(items_come_out_in_order)
{
	struct item items[N_ITEMS];
	size_t n = fill(items);
	uint32_t last = 0;

	while (n) {
		struct item first = items[0];

		ck_assert_uint_ge(first.rank, last);
		ck_assert_uint_eq(first.mark, ~first.rank);
		last = first.rank;
		items[0] = items[--n];
		heap_sift_down(items, n, sizeof *items, item_is_before);
	}
}
END_TEST

START_TEST(a_replaced_first_item_goes_to_its_place)
{
	struct item items[N_ITEMS];
	size_t n = fill(items);

	for (size_t i = 0; i < N_ITEMS; i++) {
		uint32_t first = items[0].rank;

		items[0] = (struct item){N_ITEMS, ~UINT32_C(1000)};
		heap_sift_down(items, n, sizeof *items, item_is_before);
		ck_assert_uint_ge(items[0].rank, first);
	}
	ck_assert_uint_eq(items[0].rank, N_ITEMS);
}
END_TEST

START_TEST(an_empty_heap_and_a_single_item_stay)
{
	struct item one = {3, 4};

	heap_sift_down(NULL, 0, sizeof one, item_is_before);
	heap_sift_up(&one, 1, sizeof one, item_is_before);
	heap_sift_down(&one, 1, sizeof one, item_is_before);
	ck_assert_uint_eq(one.rank, 3);
	ck_assert_uint_eq(one.mark, 4);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(items_come_out_in_order),
	UNIT_TEST(a_replaced_first_item_goes_to_its_place),
	UNIT_TEST(an_empty_heap_and_a_single_item_stay),
	{NULL},
};

UNIT_MAIN("heap", .tests = tests)
