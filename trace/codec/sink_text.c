/* SPDX-License-Identifier: Apache-2.0 */
/* Text and numbers into a sink; see sink.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "trace/codec/sink.h"
#include "trace/shortest.h"

void sink_text(struct sink *s, const char *text)
{
	sink_write(s, text, strlen(text));
}

void sink_printf(struct sink *s, const char *format, ...)
{
	char text[1024];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (n > 0)
		sink_write(s, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

/* --- numbers ------------------------------------------------------------------------------- */

#define MAX_DIGITS 20

/* Into the end of |text|; returns where it begins. */
static char *format_uint(char text[MAX_DIGITS], uint64_t value)
{
	char *p = text + MAX_DIGITS;

	do {
		*--p = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	return p;
}

void sink_uint(struct sink *s, uint64_t value)
{
	char text[MAX_DIGITS];
	const char *p = format_uint(text, value);

	sink_write(s, p, (size_t)(text + MAX_DIGITS - p));
}

/* Its size: that of INT64_MIN is no int64_t. */
static uint64_t magnitude(int64_t value)
{
	return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

void sink_int(struct sink *s, int64_t value)
{
	if (value < 0)
		sink_put(s, '-');
	sink_uint(s, magnitude(value));
}

void sink_micros(struct sink *s, int64_t ns)
{
	uint64_t n = magnitude(ns);
	unsigned int rest = (unsigned int)(n % 1000);

	if (ns < 0)
		sink_put(s, '-');
	sink_uint(s, n / 1000);
	sink_put(s, '.');
	sink_put(s, (char)('0' + rest / 100));
	sink_put(s, (char)('0' + rest / 10 % 10));
	sink_put(s, (char)('0' + rest % 10));
}

void sink_double(struct sink *s, double value)
{
	char text[SHORTEST_BYTES];

	if (isnan(value))
		sink_text(s, "nan");
	else
		sink_text(s, shortest_format(value, text));
}

/* --- strings ------------------------------------------------------------------------------- */

static const char *find_escape(unsigned char c, char hex[8])
{
	switch (c) {
	case '"':
		return "\\\"";
	case '\\':
		return "\\\\";
	case '\n':
		return "\\n";
	case '\t':
		return "\\t";
	case '\r':
		return "\\r";
	}
	snprintf(hex, 8, "\\u%04x", c);
	return hex;
}

static bool needs_escape(unsigned char c)
{
	return c < 0x20 || c == '"' || c == '\\' || c == 0x7f;
}

size_t sink_character(struct sink *s, const char *text, size_t n)
{
	const char *shown;
	size_t n_shown;
	size_t length = utf8_next(text, n, &shown, &n_shown);

	sink_write(s, shown, n_shown);
	return length;
}

void sink_utf8(struct sink *s, const char *text, size_t n)
{
	for (size_t i = 0; i < n;)
		i += sink_character(s, text + i, n - i);
}

size_t sink_utf8_length(const char *text, size_t n)
{
	size_t n_bytes = 0;
	const char *shown;
	size_t n_shown;

	for (size_t i = 0; i < n; n_bytes += n_shown)
		i += utf8_next(text + i, n - i, &shown, &n_shown);
	return n_bytes;
}

void sink_json(struct sink *s, const char *text, size_t n)
{
	char hex[8];

	sink_put(s, '"');
	for (size_t i = 0; i < n;) {
		unsigned char c = (unsigned char)text[i];

		if (c >= 0x80) {
			i += sink_character(s, text + i, n - i);
			continue;
		}
		if (needs_escape(c))
			sink_text(s, find_escape(c, hex));
		else
			sink_put(s, (char)c);
		i++;
	}
	sink_put(s, '"');
}

static bool needs_quotes(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strchr(",\"\r\n", text[i]) || (unsigned char)text[i] >= 0x80)
			return true;
	return n && (text[0] == ' ' || text[n - 1] == ' ');
}

void sink_csv(struct sink *s, const char *text, size_t n)
{
	if (!needs_quotes(text, n)) {
		sink_write(s, text, n);
		return;
	}
	sink_put(s, '"');
	for (size_t i = 0; i < n;) {
		if ((unsigned char)text[i] >= 0x80) {
			i += sink_character(s, text + i, n - i);
			continue;
		}
		if (text[i] == '"')
			sink_put(s, '"');
		sink_put(s, text[i++]);
	}
	sink_put(s, '"');
}
