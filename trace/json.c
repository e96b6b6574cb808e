/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON. */
#include "trace/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "base/utf8.h"
#include "trace/shortest.h"

/*
 * Writes the character of |n| bytes at |p|; |n| is 0 for a bad byte. All characters for which
 * printable_length() is 0 are below U+10000.
 */
static void write_character(FILE *out, const char *p, size_t n)
{
	if (n == 0)
		putc('?', out);
	else if (*p == '"' || *p == '\\')
		fprintf(out, "\\%c", *p);
	else if (printable_length(p, n) == 0)
		fprintf(out, "\\u%04" PRIx32, utf8_decode(p, n));
	else
		fwrite(p, 1, n, out);
}

static void write_quoted(FILE *out, const char *text)
{
	size_t left = strlen(text);

	putc('"', out);
	while (left > 0) {
		size_t n = utf8_length(text, left);

		write_character(out, text, n);
		n = n ? n : 1;
		text += n;
		left -= n;
	}
	putc('"', out);
}

static void write_key(struct json *j, const char *key)
{
	if (j->has_members)
		putc(',', j->out);
	j->has_members = true;
	if (key) {
		write_quoted(j->out, key);
		putc(':', j->out);
	}
}

static void open_nest(struct json *j, const char *key, char bracket)
{
	write_key(j, key);
	putc(bracket, j->out);
	j->has_members = false;
}

static void close_nest(struct json *j, char bracket)
{
	putc(bracket, j->out);
	j->has_members = true;
}

void json_begin(struct json *j, FILE *out)
{
	*j = (struct json){.out = out};
	open_nest(j, NULL, '{');
}

void json_end(struct json *j)
{
	fputs("}\n", j->out);
}

void json_begin_object(struct json *j, const char *key)
{
	open_nest(j, key, '{');
}

void json_end_object(struct json *j)
{
	close_nest(j, '}');
}

void json_begin_list(struct json *j, const char *key)
{
	open_nest(j, key, '[');
}

void json_end_list(struct json *j)
{
	close_nest(j, ']');
}

void json_text(struct json *j, const char *key, const char *value)
{
	if (!value) {
		json_nothing(j, key);
		return;
	}
	write_key(j, key);
	write_quoted(j->out, value);
}

void json_known_text(struct json *j, const char *key, const char *value)
{
	json_text(j, key, value && value[0] ? value : NULL);
}

void json_texts(struct json *j, const char *key, char *const *values, uint32_t n)
{
	json_begin_list(j, key);
	for (uint32_t i = 0; i < n; i++)
		json_text(j, NULL, values[i]);
	json_end_list(j);
}

void json_int(struct json *j, const char *key, int64_t value)
{
	write_key(j, key);
	fprintf(j->out, "%" PRId64, value);
}

void json_uint(struct json *j, const char *key, uint64_t value)
{
	write_key(j, key);
	fprintf(j->out, "%" PRIu64, value);
}

void json_double(struct json *j, const char *key, double value)
{
	char text[SHORTEST_BYTES];

	if (!isfinite(value)) {
		json_nothing(j, key);
		return;
	}
	write_key(j, key);
	fputs(shortest_format(value, text), j->out);
}

void json_bool(struct json *j, const char *key, bool value)
{
	write_key(j, key);
	fputs(value ? "true" : "false", j->out);
}

void json_nothing(struct json *j, const char *key)
{
	write_key(j, key);
	fputs("null", j->out);
}

void json_raw(struct json *j, const char *key, const char *value)
{
	write_key(j, key);
	fputs(value, j->out);
}
