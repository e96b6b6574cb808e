/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 as in RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF; see utf8.h. */
#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

static bool byte_is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/*
 * Returns the number of bytes of a character by its first byte; 0 for a byte that cannot be the
 * first.
 */
static size_t promised_length(unsigned char c)
{
	if (c < 0x80)
		return 1;
	if (c >= 0xc2 && c <= 0xdf)
		return 2;
	if (c >= 0xe0 && c <= 0xef)
		return 3;
	return c >= 0xf0 && c <= 0xf4 ? 4 : 0;
}

/* Overlong forms, surrogates and code points above U+10FFFF all show in the second byte. */
static bool bytes_are_allowed(unsigned char first, unsigned char second)
{
	switch (first) {
	case 0xe0:
		return second >= 0xa0;
	case 0xed:
		return second < 0xa0;
	case 0xf0:
		return second >= 0x90;
	case 0xf4:
		return second < 0x90;
	default:
		return true;
	}
}

size_t utf8_length(const char *p, size_t n)
{
	size_t length = n ? promised_length((unsigned char)p[0]) : 0;

	if (length > n)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if (!byte_is_continuation(p[i]))
			return 0;
	}
	if (length > 2 && !bytes_are_allowed((unsigned char)p[0], (unsigned char)p[1]))
		return 0;
	return length;
}

uint32_t utf8_decode(const char *p, size_t length)
{
	/* The masks of those bits of the first byte that belong to the code point, by |length|. */
	static const uint8_t mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t point = (uint8_t)p[0] & mask[length];

	for (size_t i = 1; i < length; i++)
		point = point << 6 | ((uint8_t)p[i] & 0x3f);
	return point;
}

size_t utf8_next(const char *text, size_t n, const char **shown, size_t *n_shown)
{
	size_t length = utf8_length(text, n);

	*shown = length ? text : REPLACEMENT;
	*n_shown = length ? length : strlen(REPLACEMENT);
	return length ? length : 1;
}

void utf8_copy(char *to, const char *text, size_t n)
{
	size_t i = 0;

	while (i < n) {
		size_t length = utf8_length(text + i, n - i);

		if (length)
			memcpy(to + i, text + i, length);
		else
			to[i] = '?';
		i += length ? length : 1;
	}
}

size_t utf8_cut(const char *text, size_t n)
{
	while (n && byte_is_continuation(text[n]))
		n--;
	return n;
}

void utf8_mark_cut(char *text, size_t size)
{
	memcpy(text + utf8_cut(text, size - sizeof UTF8_CUT), UTF8_CUT, sizeof UTF8_CUT);
}

const char *utf8_fit(char *out, size_t size, const char *text)
{
	size_t n = strnlen(text, size);

	memcpy(out, text, n);
	if (n < size)
		out[n] = '\0';
	else
		utf8_mark_cut(out, size);
	return out;
}
