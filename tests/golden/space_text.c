/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the readable form of a trace; see space_text.h. */
#include "tests/golden/space_text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "trace/model/space.h"

#define TEXT_BYTES (64u << 10)
#define MAX_STATS 1024

struct parser {
	struct space *space;
	struct plane *plane;
	bool has_line; /* a line has begun, and events belong to the plane's last line */
	const char *p; /* the rest of the current text line */
	char text[TEXT_BYTES]; /* the last string */
	size_t n_text;
};

static void skip_blanks(struct parser *s)
{
	while (*s->p == ' ' || *s->p == '\t')
		s->p++;
}

static bool accept(struct parser *s, const char *word)
{
	size_t n = strlen(word);

	skip_blanks(s);
	if (strncmp(s->p, word, n) != 0)
		return false;
	s->p += n;
	return true;
}

static int parse_escape(struct parser *s, char *c)
{
	char hex[3] = {0};

	switch (*s->p++) {
	case 'n':
		*c = '\n';
		return 0;
	case 't':
		*c = '\t';
		return 0;
	case '"':
	case '\\':
		*c = s->p[-1];
		return 0;
	case 'x':
		if (!isxdigit((unsigned char)s->p[0]) || !isxdigit((unsigned char)s->p[1]))
			return -EINVAL;
		memcpy(hex, s->p, 2);
		*c = (char)strtol(hex, NULL, 16);
		s->p += 2;
		return 0;
	}
	return -EINVAL;
}

static int repeat_text(struct parser *s)
{
	size_t n = s->n_text;
	unsigned long times = 1;
	char *end;

	if (*s->p == '*') {
		times = strtoul(s->p + 1, &end, 10);
		s->p = end;
	}
	if (n && times > (TEXT_BYTES - 1) / n)
		return -EINVAL;
	for (unsigned long i = 1; i < times; i++)
		memcpy(s->text + i * n, s->text, n);
	s->n_text = n * times;
	s->text[s->n_text] = '\0';
	return 0;
}

static int parse_string(struct parser *s)
{
	s->n_text = 0;
	if (!accept(s, "\""))
		return -EINVAL;
	while (*s->p != '"') {
		char c = *s->p++;

		if (c == '\0' || s->n_text + 1 >= TEXT_BYTES)
			return -EINVAL;
		if (c == '\\' && parse_escape(s, &c))
			return -EINVAL;
		s->text[s->n_text++] = c;
	}
	s->p++;
	return repeat_text(s);
}

static int parse_int(struct parser *s, int64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoll(s->p, &end, 10);
	if (end == s->p || errno)
		return -EINVAL;
	s->p = end;
	return 0;
}

static int parse_uint(struct parser *s, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(s->p, &end, 10);
	if (end == s->p || errno)
		return -EINVAL;
	s->p = end;
	return 0;
}

static int parse_double(struct parser *s, double *value)
{
	char *end;

	*value = strtod(s->p, &end);
	if (end == s->p)
		return -EINVAL;
	s->p = end;
	return 0;
}

static int parse_value(struct parser *s, struct trace_stat *stat)
{
	if (accept(s, "int:")) {
		stat->type = STAT_INT64;
		return parse_int(s, &stat->value.i64);
	}
	if (accept(s, "uint:")) {
		stat->type = STAT_UINT64;
		return parse_uint(s, &stat->value.u64);
	}
	if (accept(s, "double:")) {
		stat->type = STAT_DOUBLE;
		return parse_double(s, &stat->value.f64);
	}
	if (accept(s, "string:")) {
		stat->type = STAT_STRING;
		if (parse_string(s))
			return -EINVAL;
		stat->value.string = names_intern(&s->plane->stat_names, s->text, s->n_text);
		return stat->value.string == NAMES_NONE ? -ENOMEM : 0;
	}
	stat->type = STAT_BYTES;
	if (!accept(s, "bytes:") || parse_string(s))
		return -EINVAL;
	stat->value.bytes = plane_add_blob(s->plane, s->text, s->n_text);
	return stat->value.bytes == NAMES_NONE ? -ENOMEM : 0;
}

static int parse_stat(struct parser *s, struct trace_stat *stat)
{
	memset(stat, 0, sizeof *stat);
	if (parse_string(s))
		return -EINVAL;
	stat->name = names_intern(&s->plane->stat_names, s->text, s->n_text);
	return stat->name == NAMES_NONE ? -ENOMEM : parse_value(s, stat);
}

static int parse_id_and_name(struct parser *s, int64_t *id)
{
	skip_blanks(s);
	return parse_int(s, id) ? -EINVAL : parse_string(s);
}

static int parse_plane(struct parser *s)
{
	int64_t id;

	if (parse_id_and_name(s, &id))
		return -EINVAL;
	s->plane = space_add_plane(s->space, id, s->text);
	s->has_line = false;
	return s->plane ? 0 : -ENOMEM;
}

static int parse_line(struct parser *s)
{
	int64_t id;

	if (!s->plane || parse_id_and_name(s, &id))
		return -EINVAL;
	s->has_line = true;
	return plane_add_line(s->plane, id, s->text, 0) ? 0 : -ENOMEM;
}

static int parse_set(struct parser *s)
{
	struct trace_stat stat;
	int rc;

	if (!s->plane)
		return -EINVAL;
	rc = parse_stat(s, &stat);
	return rc ? rc : plane_add_own_stat(s->plane, &stat);
}

static int parse_event_stats(struct parser *s, struct trace_event *event)
{
	struct trace_stat stats[MAX_STATS];
	size_t n = 0;

	for (skip_blanks(s); *s->p == '"'; skip_blanks(s)) {
		int rc = n < MAX_STATS ? parse_stat(s, &stats[n++]) : -EINVAL;

		if (rc)
			return rc;
	}
	event->stats = n ? plane_add_stats(s->plane, stats, n) : 0;
	return n && !event->stats ? -ENOMEM : 0;
}

static int parse_event(struct parser *s)
{
	struct trace_event event = {0};
	int rc;

	if (!s->has_line)
		return -EINVAL;
	skip_blanks(s);
	if (parse_int(s, &event.start_ns))
		return -EINVAL;
	skip_blanks(s);
	if (parse_int(s, &event.duration_ns) || parse_string(s))
		return -EINVAL;
	event.name = names_intern(&s->plane->event_names, s->text, s->n_text);
	rc = event.name == NAMES_NONE ? -ENOMEM : parse_event_stats(s, &event);
	return rc ? rc : line_add_event(&s->plane->lines[s->plane->n_lines - 1], &event);
}

static int parse_text_into(struct parser *s, struct names *names)
{
	if (parse_string(s))
		return -EINVAL;
	return names_intern(names, s->text, s->n_text) == NAMES_NONE ? -ENOMEM : 0;
}

static int parse_item(struct parser *s)
{
	if (accept(s, "plane "))
		return parse_plane(s);
	if (accept(s, "set "))
		return parse_set(s);
	if (accept(s, "line "))
		return parse_line(s);
	if (accept(s, "event "))
		return parse_event(s);
	if (accept(s, "host "))
		return parse_text_into(s, &s->space->hostnames);
	if (accept(s, "warning "))
		return parse_text_into(s, &s->space->warnings);
	if (accept(s, "error "))
		return parse_text_into(s, &s->space->errors);
	return -EINVAL;
}

static int parse_text_line(struct parser *s, const char *text)
{
	int rc = 0;

	s->p = text;
	skip_blanks(s);
	if (*s->p && *s->p != '\n' && *s->p != '#')
		rc = parse_item(s);
	skip_blanks(s);
	return rc == 0 && *s->p && *s->p != '\n' && *s->p != '#' ? -EINVAL : rc;
}

static int parse_file(struct parser *s, FILE *file, const char *path, struct diag *d)
{
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	int rc = 0;

	for (int number = 1; rc == 0 && getline(&text, &size, file) > 0; number++) {
		rc = parse_text_line(s, text);
		if (rc)
			diag_set(d, rc, "%s:%d: cannot be read here: %s", path, number, s->p);
	}
	return rc;
}

int space_text_load(const char *path, struct space **out, struct diag *d)
{
	_cleanup_(space_freep) struct space *space = NULL;
	_cleanup_free_ struct parser *s = calloc(1, sizeof *s);
	FILE *file;
	int rc;

	if (!s || space_new(&space))
		return diag_set(d, -ENOMEM, "%s: out of memory", path);
	file = fopen(path, "re");
	if (!file)
		return diag_set(d, -errno, "%s: %s", path, errno_words(errno));
	s->space = space;
	rc = parse_file(s, file, path, d);
	fclose(file);
	if (rc)
		return rc;
	*out = space;
	space = NULL;
	return 0;
}
