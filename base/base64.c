/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes base64; see base64.h. */
#include "base/base64.h"

#include <stdint.h>

static char *base64_put_group(char *out, const uint8_t *p, size_t left)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t group =
		(uint32_t)p[0] << 16 | (left > 1 ? (uint32_t)p[1] << 8 : 0) | (left > 2 ? p[2] : 0);

	*out++ = digits[group >> 18];
	*out++ = digits[group >> 12 & 63];
	*out++ = left > 1 ? digits[group >> 6 & 63] : '=';
	*out++ = left > 2 ? digits[group & 63] : '=';
	return out;
}

char *base64_encode(char *out, const void *data, size_t n)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < n; i += 3)
		out = base64_put_group(out, p + i, n - i);
	return out;
}
