/* SPDX-License-Identifier: Apache-2.0 */
/* Formats numbers for people. */
#include "trace/quantity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct quantity quantity_count(uint64_t n)
{
	struct quantity q;
	char digits[24];
	size_t n_digits = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, n);
	char *p = q.text;

	for (size_t i = 0; i < n_digits; i++) {
		if (i > 0 && (n_digits - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = '\0';
	return q;
}

struct quantity quantity_bytes(uint64_t n)
{
	static const char units[] = "kMGTPE";
	struct quantity q;
	double value = (double)n;
	int unit = -1;

	/* 999.95 would be printed as 1000.0. */
	while (value >= (unit < 0 ? 1000 : 999.95)) {
		value /= 1000;
		unit++;
	}
	if (unit < 0)
		snprintf(q.text, sizeof q.text, "%" PRIu64 " B", n);
	else
		snprintf(q.text, sizeof q.text, "%.1f %cB", value, units[unit]);
	return q;
}
