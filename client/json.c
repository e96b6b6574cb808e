/* SPDX-License-Identifier: Apache-2.0 */
/* JSON; see json.h. */
#include "client/json.h"

#include <inttypes.h>
#include <string.h>

#include "base/printable.h"
#include "base/utf8.h"

/* Quoted; a byte that belongs to no character becomes '?'; control characters are escaped. */
static void write_quoted(FILE *out, const char *text)
{
	size_t left = strlen(text);

	putc('"', out);
	while (left > 0) {
		size_t n = utf8_length(text, left);

		if (n == 0)
			putc('?', out);
		else if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else if (printable_length(text, n) == 0)
			fprintf(out, "\\u%04x", (unsigned int)(unsigned char)text[n - 1]);
		else
			fwrite(text, 1, n, out);
		n = n ? n : 1;
		text += n;
		left -= n;
	}
	putc('"', out);
}

static void write_key(struct json *j, const char *key)
{
	if (j->has_members)
		fputs(", ", j->out);
	j->has_members = true;
	write_quoted(j->out, key);
	fputs(": ", j->out);
}

void json_begin(struct json *j, FILE *out)
{
	*j = (struct json){.out = out};
	putc('{', out);
}

void json_text(struct json *j, const char *key, const char *value)
{
	write_key(j, key);
	if (value)
		write_quoted(j->out, value);
	else
		fputs("null", j->out);
}

void json_number(struct json *j, const char *key, int64_t value)
{
	write_key(j, key);
	fprintf(j->out, "%" PRId64, value);
}

void json_bool(struct json *j, const char *key, bool value)
{
	write_key(j, key);
	fputs(value ? "true" : "false", j->out);
}

void json_texts(struct json *j, const char *key, char *const *values, uint32_t n)
{
	write_key(j, key);
	putc('[', j->out);
	for (uint32_t i = 0; i < n; i++) {
		if (i > 0)
			fputs(", ", j->out);
		write_quoted(j->out, values[i]);
	}
	putc(']', j->out);
}

void json_begin_objects(struct json *j, const char *key)
{
	write_key(j, key);
	putc('[', j->out);
	j->has_members = false;
}

void json_begin_object(struct json *j)
{
	fputs(j->has_members ? ", {" : "{", j->out);
	j->has_members = false;
}

void json_end_object(struct json *j)
{
	putc('}', j->out);
	j->has_members = true;
}

void json_end_objects(struct json *j)
{
	putc(']', j->out);
	j->has_members = true;
}

void json_end(struct json *j)
{
	fputs("}\n", j->out);
}
