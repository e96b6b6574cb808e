/* SPDX-License-Identifier: Apache-2.0 */
/* Wide characters; see wide.h. */
#include "lib/inject/nvtx/wide.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define REPLACEMENT 0xfffdu

static uint32_t get_unit(const char *text, size_t width, size_t i)
{
	uint16_t u16;
	uint32_t u32;

	switch (width) {
	case 1:
		return (unsigned char)text[i];
	case 2:
		memcpy(&u16, text + i * 2, sizeof u16);
		return u16;
	default:
		memcpy(&u32, text + i * 4, sizeof u32);
		return u32;
	}
}

static bool is_surrogate(uint32_t point)
{
	return point >= 0xd800 && point <= 0xdfff;
}

/* Returns the character at |*i| and advances |*i| behind it. 0: the end. */
static uint32_t next_point(const char *text, size_t width, size_t n, size_t *i)
{
	uint32_t point = *i < n ? get_unit(text, width, *i) : 0;
	uint32_t low;

	*i += 1;
	if (width == 2 && point >= 0xd800 && point < 0xdc00 && *i < n) {
		low = get_unit(text, width, *i);
		if (low >= 0xdc00 && low <= 0xdfff) {
			*i += 1;
			return 0x10000 + ((point & 0x3ff) << 10) + (low & 0x3ff);
		}
	}
	return is_surrogate(point) || point > 0x10ffff ? REPLACEMENT : point;
}

/* Writes |point| as UTF-8. Returns the number of bytes, at most 4. */
static size_t encode_utf8(char to[4], uint32_t point)
{
	size_t n = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
	static const uint8_t first[] = {0, 0, 0xc0, 0xe0, 0xf0};

	for (size_t i = n; i-- > 1; point >>= 6)
		to[i] = (char)(0x80 | (point & 0x3f));
	to[0] = (char)(first[n] | point);
	return n;
}

/* Copies bytes unchecked: the reader of the trace checks them. */
static size_t copy_bytes(char *to, size_t size, const char *text, size_t n)
{
	n = strnlen(text, n < size - 1 ? n : size - 1);
	memcpy(to, text, n);
	to[n] = '\0';
	return n;
}

size_t wide_to_utf8(char *to, size_t size, const void *text, size_t width, size_t n)
{
	size_t n_written = 0;
	size_t i = 0;
	uint32_t point;
	char bytes[4];
	size_t n_bytes;

	if (width == 1)
		return copy_bytes(to, size, text, n);
	while ((point = next_point(text, width, n, &i)) != 0) {
		n_bytes = encode_utf8(bytes, point);
		if (n_written + n_bytes >= size)
			break;
		memcpy(to + n_written, bytes, n_bytes);
		n_written += n_bytes;
	}
	to[n_written] = '\0';
	return n_written;
}
