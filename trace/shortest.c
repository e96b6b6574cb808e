/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds shortest texts. C has no function for them, and trying numbers of digits costs two
 * conversions of long numbers each. But 128 bits hold most numbers exactly. With V = M * 2^-S, the
 * integer M * 10^K has all needed digits before its last S bits. These bits show how to round, and
 * whether the rounded number is still nearer to V than to its neighbours.
 */
#include "trace/shortest.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MIN_DIGITS 15
#define MAX_DIGITS 17
#define MAX_DECIMALS 20 /* decimals of MIN_EXACT with MAX_DIGITS */
#define MANTISSA_BITS 53

/*
 * With the fewest digits, %g writes an exponent for numbers below MIN_EXACT, and from MAX_EXACT on.
 */
#define MIN_EXACT 1e-4
#define MAX_EXACT 1e15

__extension__ typedef unsigned __int128 wide;

/* Returns the exponent of the largest power of ten that is not above |value|. */
static int find_exponent(double value)
{
	static const double powers[] = {MIN_EXACT, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e4, 1e5,
		1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, MAX_EXACT};
	int i = 0;

	while (powers[i + 1] <= value)
		i++;
	return i - 4;
}

/* Returns 10^n, for 0 to MAX_DECIMALS. */
static wide raise_ten(int n)
{
	static const uint64_t tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000,
		100000000, 1000000000, UINT64_C(10000000000), UINT64_C(100000000000),
		UINT64_C(1000000000000), UINT64_C(10000000000000), UINT64_C(100000000000000),
		UINT64_C(1000000000000000), UINT64_C(10000000000000000),
		UINT64_C(100000000000000000), UINT64_C(1000000000000000000),
		UINT64_C(10000000000000000000)};

	return n < MAX_DECIMALS ? tens[n] : (wide)tens[MAX_DECIMALS - 1] * 10;
}

/* --- exact digits -------------------------------------------------------------------------- */

/* The number is mantissa / 2^n_bits; digits / 10^n_decimals is an approximation of it. */
struct exact {
	uint64_t mantissa;
	int n_bits;
	uint64_t digits;
	int n_decimals;
};

static struct exact split_number(double value)
{
	int exponent;
	double fraction = frexp(value, &exponent);

	return (struct exact){.mantissa = (uint64_t)ldexp(fraction, MANTISSA_BITS),
		.n_bits = MANTISSA_BITS - exponent};
}

/*
 * Rounds to |n_decimals|, a half to the even digit. False: the result would be read as another
 * number, since its error is not less than half of the distance to the next number. An error of
 * exactly this half is impossible: it needs more than MAX_DIGITS. Below a power of two the next
 * number is nearer, but powers of two are exact with MIN_DIGITS.
 */
static bool round_digits(struct exact *e, int n_decimals)
{
	wide scaled = e->mantissa * raise_ten(n_decimals);
	wide unit = (wide)1 << e->n_bits;
	wide rest = scaled & (unit - 1);
	wide digits = scaled >> e->n_bits;
	bool is_up = rest * 2 > unit || (rest * 2 == unit && digits % 2);

	e->digits = (uint64_t)(digits + is_up);
	e->n_decimals = n_decimals;
	return (is_up ? unit - rest : rest) * 2 < raise_ten(n_decimals);
}

static void find_digits(struct exact *e, int exponent)
{
	int n = MIN_DIGITS;

	while (!round_digits(e, n - 1 - exponent) && n < MAX_DIGITS)
		n++;
	while (e->n_decimals && e->digits % 10 == 0) {
		e->digits /= 10;
		e->n_decimals--;
	}
}

/* Writes the number with at least one digit before the point. */
static void format_exact(const struct exact *e, bool is_negative, char *text)
{
	char reversed[SHORTEST_BYTES];
	uint64_t rest = e->digits;
	int n = 0;

	for (int i = 0; rest || i <= e->n_decimals; i++, rest /= 10) {
		if (i && i == e->n_decimals)
			reversed[n++] = '.';
		reversed[n++] = (char)('0' + rest % 10);
	}
	if (is_negative)
		reversed[n++] = '-';
	for (int i = 0; i < n; i++)
		text[i] = reversed[n - 1 - i];
	text[n] = '\0';
}

/* --- tried digits -------------------------------------------------------------------------- */

static void try_digits(double value, char *text)
{
	for (int n = MIN_DIGITS; n <= MAX_DIGITS; n++) {
		snprintf(text, SHORTEST_BYTES, "%.*g", n, value);
		if (strtod(text, NULL) == value)
			return;
	}
}

const char *shortest_format(double value, char text[SHORTEST_BYTES])
{
	double size = fabs(value);
	struct exact e;

	if (!(size >= MIN_EXACT && size < MAX_EXACT)) {
		try_digits(value, text);
		return text;
	}
	e = split_number(size);
	find_digits(&e, find_exponent(size));
	format_exact(&e, value < 0, text);
	return text;
}
