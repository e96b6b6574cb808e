/* SPDX-License-Identifier: Apache-2.0 */
/* Text that a terminal may see; see printable.h. */
#include "base/printable.h"

#include <string.h>

#include "base/utf8.h"

/* C0, DEL, or C1: 0xc2 0x80 to 0xc2 0x9f. |p| begins a valid character. */
static int is_control(const unsigned char *p)
{
	return p[0] < 0x20 || p[0] == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0);
}

size_t printable_next(const char *p, size_t n, size_t *kept)
{
	size_t length = utf8_length(p, n);

	*kept = length && !is_control((const unsigned char *)p) ? length : 0;
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
