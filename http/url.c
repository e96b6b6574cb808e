/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the URL of a request; see url.h. */
#include "http/url.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

/* --- Percent signs --------------------------------------------------------------------------- */

static int hex_digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Decodes one byte of |*text|, and advances |*text|; -1: the encoding is wrong. */
static int url_decode_byte(const char **text, bool has_plus)
{
	const char *at = *text;
	int high, low;

	*text = at + 1;
	if (*at == '+' && has_plus)
		return ' ';
	if (*at != '%')
		return (unsigned char)*at;
	high = hex_digit_value(at[1]);
	low = high < 0 ? -1 : hex_digit_value(at[2]);
	*text = at + 3;
	return low < 0 ? -1 : high * 16 + low;
}

static bool url_is_clean(const char *text, size_t n)
{
	for (size_t i = 0, length; i < n; i += length) {
		length = utf8_length(text + i, n - i);
		if (!length || (unsigned char)text[i] < ' ' || text[i] == 127)
			return false;
	}
	return true;
}

/* Decodes in place, since nothing gets longer. */
static int url_decode(char *text, bool has_plus)
{
	const char *from = text;
	char *to = text;
	int byte;

	while (*from) {
		byte = url_decode_byte(&from, has_plus);
		if (byte < 0)
			return -EINVAL;
		*to++ = (char)byte;
	}
	*to = '\0';
	return url_is_clean(text, (size_t)(to - text)) ? 0 : -EINVAL;
}

/* --- The path -------------------------------------------------------------------------------- */

static bool url_is_part(const char *text)
{
	return strcmp(text, ".") != 0 && strcmp(text, "..") != 0 && !strchr(text, '/');
}

static int url_add_part(struct http_url *u, char *text)
{
	if (u->n_parts == HTTP_MAX_PARTS)
		return -ENAMETOOLONG;
	if (url_decode(text, false) || !url_is_part(text))
		return -EINVAL;
	u->parts[u->n_parts++] = text;
	return 0;
}

/* |path| begins after the first '/'. */
static int url_split_path(struct http_url *u, char *path)
{
	char *part;
	int r = 0;

	while (r == 0 && (part = strsep(&path, "/")))
		r = url_add_part(u, part);
	return r;
}

/* --- The query ------------------------------------------------------------------------------- */

static int url_add_pair(struct http_url *u, char *key)
{
	char *value = strchr(key, '=');

	if (u->n_pairs == HTTP_MAX_PAIRS)
		return -ENAMETOOLONG;
	if (value)
		*value++ = '\0';
	if (url_decode(key, true) || (value && url_decode(value, true)))
		return -EINVAL;
	u->keys[u->n_pairs] = key;
	u->values[u->n_pairs++] = value ? value : "";
	return 0;
}

static int url_split_query(struct http_url *u, char *query)
{
	char *pair;
	int r = 0;

	while (r == 0 && (pair = strsep(&query, "&")))
		if (*pair)
			r = url_add_pair(u, pair);
	return r;
}

/* --- The URL --------------------------------------------------------------------------------- */

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
	r = url_split_path(u, u->text + 1);
	return r ? r : url_split_query(u, query);
}

const char *http_url_find(const struct http_url *u, const char *key)
{
	for (size_t i = 0; i < u->n_pairs; i++)
		if (strcmp(u->keys[i], key) == 0)
			return u->values[i];
	return NULL;
}
