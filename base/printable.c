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

size_t printable_length(const char *p, size_t n)
{
	size_t length = utf8_length(p, n);

	return length && !is_control((const unsigned char *)p) ? length : 0;
}

void printable_clean(char *text)
{
	size_t n = strlen(text);
	char *out = text;

	for (size_t i = 0; i < n;) {
		size_t kept = printable_length(text + i, n - i);
		size_t length = utf8_length(text + i, n - i);

		if (kept)
			memmove(out, text + i, kept);
		else
			*out = '?';
		out += kept ? kept : 1;
		i += length ? length : 1;
	}
	*out = '\0';
}
