/* SPDX-License-Identifier: Apache-2.0 */
/* Breaking lines; see line_break.h. */
#include "base/line_break.h"

#include <string.h>

static size_t line_fit(const char *text, size_t n_columns)
{
	size_t n;

	for (n = 0; text[n]; n++)
		if ((text[n] & 0xc0) != 0x80 && n_columns-- == 0)
			break;
	return n;
}

size_t line_break_find(const char *text, size_t n_columns)
{
	size_t n = line_fit(text, n_columns);

	if (!text[n] || text[n] == ' ')
		return n;
	while (n > 0 && text[n] != ' ')
		n--;
	return n ? n : strcspn(text, " ");
}

void line_break_print(FILE *out, const char *begin, const char *text, size_t width)
{
	while (*text) {
		size_t n = line_break_find(text, width - strlen(begin));

		fprintf(out, "%s%.*s\n", begin, (int)n, text);
		text += n + strspn(text + n, " ");
	}
}
