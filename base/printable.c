/* SPDX-License-Identifier: Apache-2.0 */
/* Text that is safe for a terminal; see printable.h. */
#include "base/printable.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

/* C0, DEL and C1; embeddings, overrides and isolates of the bidirectional algorithm. */
static const struct {
	uint32_t first;
	uint32_t last;
} controls[] = {
	{0x00, 0x1f},
	{0x7f, 0x9f},
	{0x202a, 0x202e},
	{0x2066, 0x2069},
};

static bool point_is_control(uint32_t point)
{
	for (size_t i = 0; i < sizeof controls / sizeof controls[0]; i++) {
		if (point >= controls[i].first && point <= controls[i].last)
			return true;
	}
	return false;
}

size_t printable_next(const char *p, size_t n, size_t *kept)
{
	size_t length = utf8_length(p, n);

	*kept = length && !point_is_control(utf8_decode(p, length)) ? length : 0;
	return length ? length : 1;
}

size_t printable_length(const char *p, size_t n)
{
	size_t kept;

	printable_next(p, n, &kept);
	return kept;
}

void printable_clean(char *text)
{
	size_t n = strlen(text);
	char *out = text;

	for (size_t i = 0; i < n;) {
		size_t kept;
		size_t length = printable_next(text + i, n - i, &kept);

		if (kept)
			memmove(out, text + i, kept);
		else
			*out = '?';
		out += kept ? kept : 1;
		i += length;
	}
	*out = '\0';
}
