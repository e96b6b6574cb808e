/* SPDX-License-Identifier: Apache-2.0 */
/* Finds shortest texts with C++'s library, because C has no function for them. */
extern "C" {
#include "trace/shortest.h"
}

#include <charconv>
#include <cmath>
#include <cstdlib>

/*
 * %.15g writes an exponent below MIN_FIXED, and from MAX_FIXED on. Between them it equals the
 * shortest text without an exponent, which needs no trying. Elsewhere they differ, as for 5e-324.
 */
static constexpr double MIN_FIXED = 1e-4;
static constexpr double MAX_FIXED = 1e15;

const char *shortest_format(double value, char text[SHORTEST_BYTES])
{
	char *last = text + SHORTEST_BYTES - 1;
	double size = std::fabs(value);

	if (size >= MIN_FIXED && size < MAX_FIXED) {
		*std::to_chars(text, last, value, std::chars_format::fixed).ptr = '\0';
		return text;
	}
	for (int n = 15; n <= 17; n++) {
		*std::to_chars(text, last, value, std::chars_format::general, n).ptr = '\0';
		if (std::strtod(text, nullptr) == value)
			break;
	}
	return text;
}
