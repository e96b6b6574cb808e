/* SPDX-License-Identifier: Apache-2.0 */
/* What a request asks for, taken apart; see url.h. */
#include "http/url.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

/* --- percent signs ------------------------------------------------------------------------- */

static int find_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* One byte of |*text|, which moves behind it; -1: no such thing. */
static int undo(const char **text, bool has_plus)
{
	const char *at = *text;
	int high, low;

	*text = at + 1;
	if (*at == '+' && has_plus)
		return ' ';
	if (*at != '%')
		return (unsigned char)*at;
	high = find_digit(at[1]);
	low = high < 0 ? -1 : find_digit(at[2]);
	*text = at + 3;
	return low < 0 ? -1 : high * 16 + low;
}

static bool is_clean(const char *text, size_t n)
{
	for (size_t i = 0, length; i < n; i += length) {
		length = utf8_length(text + i, n - i);
		if (!length || (unsigned char)text[i] < ' ' || text[i] == 127)
			return false;
	}
	return true;
}

/* In place, since nothing gets longer; |text| ends at its '\0'. */
static int undo_all(char *text, bool has_plus)
{
	const char *from = text;
	char *to = text;
	int byte;

	while (*from) {
		byte = undo(&from, has_plus);
		if (byte < 0)
			return -EINVAL;
		*to++ = (char)byte;
	}
	*to = '\0';
	return is_clean(text, (size_t)(to - text)) ? 0 : -EINVAL;
}

/* --- the path ------------------------------------------------------------------------------ */

static bool is_part(const char *text)
{
	return strcmp(text, ".") != 0 && strcmp(text, "..") != 0 && !strchr(text, '/');
}

static int add_part(struct http_url *u, char *text)
{
	if (u->n_parts == HTTP_MAX_PARTS)
		return -ENAMETOOLONG;
	if (undo_all(text, false) || !is_part(text))
		return -EINVAL;
	u->parts[u->n_parts++] = text;
	return 0;
}

/* |path| is behind its first '/'. */
static int split_path(struct http_url *u, char *path)
{
	char *part;
	int r = 0;

	while (r == 0 && (part = strsep(&path, "/")))
		r = add_part(u, part);
	return r;
}

/* --- the query ----------------------------------------------------------------------------- */

static int add_pair(struct http_url *u, char *key)
{
	char *value = strchr(key, '=');

	if (u->n_pairs == HTTP_MAX_PAIRS)
		return -ENAMETOOLONG;
	if (value)
		*value++ = '\0';
	if (undo_all(key, true) || (value && undo_all(value, true)))
		return -EINVAL;
	u->keys[u->n_pairs] = key;
	u->values[u->n_pairs++] = value ? value : "";
	return 0;
}

static int split_query(struct http_url *u, char *query)
{
	char *pair;
	int r = 0;

	while (r == 0 && (pair = strsep(&query, "&")))
		if (*pair)
			r = add_pair(u, pair);
	return r;
}

/* --- both ---------------------------------------------------------------------------------- */

int http_url_parse(struct http_url *u, const char *text)
{
	size_t n_path = strcspn(text, "?");
	char *query = NULL;
	int r;

	u->n_parts = u->n_pairs = 0;
	u->path[0] = '\0';
	if (strlen(text) >= HTTP_MAX_URL_BYTES)
		return -ENAMETOOLONG;
	if (text[0] != '/' || strchr(text, '#'))
		return -EINVAL;
	strcpy(u->text, text);
	memcpy(u->path, text, n_path);
	u->path[n_path] = '\0';
	if (text[n_path])
		query = u->text + n_path + 1;
	u->text[n_path] = '\0';
	r = split_path(u, u->text + 1);
	return r ? r : split_query(u, query);
}

const char *http_url_find(const struct http_url *u, const char *key)
{
	for (size_t i = 0; i < u->n_pairs; i++)
		if (strcmp(u->keys[i], key) == 0)
			return u->values[i];
	return NULL;
}
