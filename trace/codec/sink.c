/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers bytes, compresses them, and formats texts and numbers. */
#include "trace/codec/sink.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/file_io.h"
#include "base/grow.h"
#include "base/utf8.h"
#include "trace/shortest.h"

struct sink_deflater {
	z_stream stream;
	uint8_t out[SINK_BYTES];
};

#define GZIP_WINDOW (15 + 16) /* for deflateInit2(): 32 KiB, and gzip's header */

static int sink_start_gzip(struct sink *s, int level)
{
	s->gzip = calloc(1, sizeof *s->gzip);
	if (!s->gzip)
		return -ENOMEM;
	if (deflateInit2(&s->gzip->stream, level, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) ==
		Z_OK)
		return 0;
	free(s->gzip);
	s->gzip = NULL;
	return -ENOMEM;
}

int sink_init(struct sink *s, int fd, int level)
{
	*s = (struct sink){.fd = fd, .buffer = malloc(SINK_BYTES)};
	if (!s->buffer)
		return -ENOMEM;
	return level ? sink_start_gzip(s, level) : 0;
}

int sink_init_memory(struct sink *s)
{
	int r = sink_init(s, -1, 0);

	s->is_memory = true;
	return r;
}

void sink_deinit(struct sink *s)
{
	free(s->kept);
	if (s->gzip)
		deflateEnd(&s->gzip->stream);
	free(s->gzip);
	free(s->buffer);
	*s = (struct sink){.fd = -1};
}

static int sink_keep(struct sink *s, const void *data, size_t n)
{
	if (grow(&s->kept, &s->n_kept_allocated, s->n_kept + n))
		return -ENOMEM;
	memcpy(s->kept + s->n_kept, data, n);
	s->n_kept += n;
	return 0;
}

static void sink_write_out(struct sink *s, const void *data, size_t n)
{
	if (s->error || n == 0)
		return;
	s->error = s->is_memory ? sink_keep(s, data, n) : file_write(s->fd, data, n);
	if (s->error == 0)
		s->n_written += n;
}

static void deflate_out(struct sink *s, const uint8_t *data, size_t n, int how)
{
	z_stream *z = &s->gzip->stream;

	z->next_in = (uint8_t *)(uintptr_t)data;
	z->avail_in = (unsigned int)n;
	do {
		z->next_out = s->gzip->out;
		z->avail_out = SINK_BYTES;
		deflate(z, how);
		sink_write_out(s, s->gzip->out, SINK_BYTES - z->avail_out);
	} while (z->avail_out == 0);
}

void sink_flush(struct sink *s)
{
	if (s->gzip)
		deflate_out(s, s->buffer, s->n_used, Z_NO_FLUSH);
	else
		sink_write_out(s, s->buffer, s->n_used);
	s->n_used = 0;
}

int sink_finish(struct sink *s)
{
	sink_flush(s);
	if (s->gzip)
		deflate_out(s, s->buffer, 0, Z_FINISH);
	return s->error;
}

uint8_t *sink_reserve(struct sink *s, size_t n)
{
	if (SINK_BYTES - s->n_used < n)
		sink_flush(s);
	return s->buffer + s->n_used;
}

void sink_write(struct sink *s, const void *data, size_t n)
{
	const uint8_t *p = data;

	while (n) {
		size_t part = SINK_BYTES - s->n_used < n ? SINK_BYTES - s->n_used : n;

		memcpy(s->buffer + s->n_used, p, part);
		sink_commit(s, part);
		p += part;
		n -= part;
		if (s->n_used == SINK_BYTES)
			sink_flush(s);
	}
}

static ssize_t write_from_stream(void *sink, const char *data, size_t n)
{
	struct sink *s = sink;

	sink_write(s, data, n);
	if (!s->error)
		return (ssize_t)n;
	errno = -s->error;
	return 0;
}

FILE *sink_open_stream(struct sink *s)
{
	return fopencookie(s, "w", (cookie_io_functions_t){.write = write_from_stream});
}

const uint8_t *sink_get_memory(struct sink *s, size_t *n)
{
	if (s->n_kept == 0 && !s->error) {
		*n = s->n_used;
		return s->buffer;
	}
	sink_flush(s);
	*n = s->n_kept;
	return s->error ? NULL : s->kept;
}

void sink_clear_memory(struct sink *s)
{
	s->n_used = 0;
	s->n_kept = 0;
	s->error = 0;
}

/* --- text ---------------------------------------------------------------------------------- */

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

/* Writes the digits to the end of |text|; returns the first one. */
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

/* Returns the absolute value; that of INT64_MIN fits only into a uint64_t. */
static uint64_t get_magnitude(int64_t value)
{
	return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

void sink_int(struct sink *s, int64_t value)
{
	if (value < 0)
		sink_put(s, '-');
	sink_uint(s, get_magnitude(value));
}

void sink_micros(struct sink *s, int64_t ns)
{
	uint64_t n = get_magnitude(ns);
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
