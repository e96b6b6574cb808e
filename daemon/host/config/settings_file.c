/* SPDX-License-Identifier: Apache-2.0 */
/* Settings from files; see settings.h. */
#include "daemon/host/config/settings.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/diag.h"

#define MAX_LINE_BYTES 1024

static char *skip_space(char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

static void cut_space(char *text)
{
	size_t n = strlen(text);

	while (n && isspace((unsigned char)text[n - 1]))
		n--;
	text[n] = '\0';
}

/* A '#' in a word, as in the name of a directory, begins none. */
static void cut_comment(char *line)
{
	for (char *p = line; (p = strchr(p, '#')); p++)
		if (p == line || isspace((unsigned char)p[-1])) {
			*p = '\0';
			return;
		}
}

/* |line| is changed. *column: where it is wrong, from 0. */
static int read_line(struct settings *s, char *line, size_t *column, struct diag *d)
{
	char *key = skip_space(line);
	char *value;

	*column = (size_t)(key - line);
	cut_comment(line);
	cut_space(key);
	if (!*key)
		return 0;
	value = strchr(key, '=');
	if (!value)
		return diag_set(d, -EINVAL, "%.64s: no '='; a line is KEY = VALUE", key);
	*value++ = '\0';
	value = skip_space(value);
	cut_space(key);
	cut_space(value);
	if (settings_is_key(key))
		*column = (size_t)(value - line);
	return settings_set(s, key, value, d);
}

static int fail_at(
	const char *path, unsigned n_line, size_t column, const struct diag *why, struct diag *d)
{
	return diag_set(d, -EINVAL, "%.200s:%u:%zu: %.256s", path, n_line, column + 1, why->text);
}

static int read_lines(struct settings *s, FILE *file, const char *path, struct diag *d)
{
	char line[MAX_LINE_BYTES];
	struct diag why = DIAG_INIT;
	size_t column;

	for (unsigned n = 1; fgets(line, sizeof line, file); n++) {
		if (!strchr(line, '\n') && !feof(file)) {
			diag_set(&why, -EINVAL, "the line is longer than %d bytes",
				MAX_LINE_BYTES - 2);
			return fail_at(path, n, sizeof line - 1, &why, d);
		}
		if (read_line(s, line, &column, &why))
			return fail_at(path, n, column, &why, d);
	}
	return ferror(file) ? diag_set(d, -EIO, "%.200s: cannot be read", path) : 0;
}

int settings_load(struct settings *s, const char *path, struct diag *d)
{
	FILE *file = fopen(path, "re");
	struct settings read = *s;
	int r;

	if (!file)
		return diag_set(d, -errno, "%.200s: %s", path, errno_words(-errno));
	r = read_lines(&read, file, path, d);
	fclose(file);
	if (!r)
		*s = read;
	return r;
}
