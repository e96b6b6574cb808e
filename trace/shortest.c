/* SPDX-License-Identifier: Apache-2.0 */
/* Shortest texts; see shortest.h. C has no function for them, so digits are tried; most numbers are small decimals. */
#include "trace/shortest.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Of a number with three decimals at most, and 15 digits. */
#define THOUSAND 1000
#define MAX_THOUSANDTHS 1e15
/* %g writes smaller ones with an exponent. */
#define MIN_DECIMAL 1e-3

/* Division is rounded correctly: what n / 1000 gives is what its decimals read as. */
static int is_small_decimal(double value, int64_t *thousandths)
{
	double scaled = fabs(value) * THOUSAND;

	if (!(scaled < MAX_THOUSANDTHS) || (value != 0 && fabs(value) < MIN_DECIMAL))
		return 0;
	*thousandths = (int64_t)(scaled + 0.5);
	return (double)*thousandths / THOUSAND == fabs(value);
}

static void format_decimal(double value, int64_t thousandths, char *text)
{
	int n = snprintf(text, SHORTEST_BYTES, "%s%" PRId64, signbit(value) ? "-" : "",
		thousandths / THOUSAND);
	int rest = (int)(thousandths % THOUSAND);

	if (!rest)
		return;
	n += snprintf(text + n, SHORTEST_BYTES - (size_t)n, ".%03d", rest);
	while (text[n - 1] == '0')
		text[--n] = '\0';
}

const char *shortest_format(double value, char text[SHORTEST_BYTES])
{
	int64_t thousandths;

	if (is_small_decimal(value, &thousandths)) {
		format_decimal(value, thousandths, text);
		return text;
	}
	for (int n_digits = 15; n_digits <= 17; n_digits++) {
		snprintf(text, SHORTEST_BYTES, "%.*g", n_digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	return text;
}
