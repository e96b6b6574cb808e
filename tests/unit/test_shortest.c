/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the shortest text of a number: it must be the one that trying all digits gives. */
#include "trace/shortest.h"

#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

#define N_RANDOM 50000
#define EXPONENT_BITS (UINT64_C(0x7ff) << 52)

static uint64_t seed = 1;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Tries all digits: slow, but right for all numbers. */
static void format_by_trying(double value, char *text)
{
	for (int n = 15; n <= 17; n++) {
		snprintf(text, SHORTEST_BYTES, "%.*g", n, value);
		if (strtod(text, NULL) == value)
			return;
	}
}

static void check_one(double value)
{
	char expected[SHORTEST_BYTES];
	char text[SHORTEST_BYTES];

	format_by_trying(value, expected);
	ck_assert_str_eq(shortest_format(value, text), expected);
	ck_assert(strtod(text, NULL) == value);
}

START_TEST(numbers_at_the_edges_have_their_shortest_text)
{
	static const double values[] = {0, -0.0, 1, -1, 0.1, 0.001, 0.0009, 1e-3, 1e-4, 5e-324,
		0.0015, 1e12, 999999999999.999, 1e12 + 0.001, 1e15, 1e15 - 1, 9007199254740993.0,
		1e300, -2.5, 123.456, 0.30000000000000004, 1.0 / 3, 100, 1e5, 123456789012345.0};

	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		check_one(values[i]);
	check_one(INFINITY);
}
END_TEST

START_TEST(random_numbers_have_their_shortest_text)
{
	for (int i = 0; i < N_RANDOM; i++) {
		uint64_t bits = next();
		double value;

		memcpy(&value, &bits, sizeof value);
		if (isfinite(value))
			check_one(value);
		bits &= ~EXPONENT_BITS;
		memcpy(&value, &bits, sizeof value); /* subnormal */
		check_one(value);
		check_one((double)(int64_t)(next() >> (next() % 64)) / 1000);
		check_one((double)(int64_t)(next() >> (next() % 64)));
		check_one(ldexp((double)(next() >> 11), -(int)(next() % 70)));
	}
}
END_TEST

/*
 * Powers of two are nearer to the number below than to the one above; next to powers of ten the
 * number of digits changes.
 */
START_TEST(powers_and_their_neighbours_have_their_shortest_text)
{
	for (int i = -20; i < 60; i++) {
		double powers[] = {
			ldexp(1, i), pow(10, i / 3), ldexp(3, i), ldexp(0x1fffffffffffff, i - 40)};

		for (size_t k = 0; k < sizeof powers / sizeof *powers; k++) {
			check_one(powers[k]);
			check_one(nextafter(powers[k], 0));
			check_one(-nextafter(powers[k], INFINITY));
		}
	}
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(numbers_at_the_edges_have_their_shortest_text),
	UNIT_TEST(random_numbers_have_their_shortest_text),
	UNIT_TEST(powers_and_their_neighbours_have_their_shortest_text),
	{NULL},
};

UNIT_MAIN("shortest", .tests = tests)
