/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the median of the last steps. */
#include "daemon/pipeline/drain/triggers.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

static struct step_median m;

static void setup(void)
{
	memset(&m, 0, sizeof m);
}

START_TEST(is_exact_for_few_steps)
{
	static const uint64_t durations[] = {30, 10, 20, 20, 90};
	static const uint64_t medians[] = {30, 10, 20, 20, 20};

	ck_assert_uint_eq(step_median_get(&m), 0);
	for (int i = 0; i < 5; i++) {
		step_median_add(&m, durations[i]);
		ck_assert_uint_eq(step_median_get(&m), medians[i]);
	}
}
END_TEST

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

START_TEST(is_the_median_of_the_last_steps)
{
	uint64_t all[4 * STEP_MEDIAN_MAX];
	uint64_t sorted[STEP_MEDIAN_MAX];

	srand(4711);
	for (uint32_t i = 0; i < 4 * STEP_MEDIAN_MAX; i++) {
		uint32_t n = i + 1 < STEP_MEDIAN_MAX ? i + 1 : STEP_MEDIAN_MAX;

		/* Many steps are equal, and they become longer. */
		all[i] = (uint64_t)(rand() % 50) + i / 100;
		step_median_add(&m, all[i]);
		if (i % 97)
			continue;
		memcpy(sorted, &all[i + 1 - n], n * sizeof *sorted);
		qsort(sorted, n, sizeof *sorted, compare);
		ck_assert_uint_eq(step_median_get(&m), sorted[(n - 1) / 2]);
	}
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(is_exact_for_few_steps),
	UNIT_TEST(is_the_median_of_the_last_steps),
	{NULL},
};

UNIT_MAIN("step_median", .set_up = setup, .tests = tests)
