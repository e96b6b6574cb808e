/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of our own parsing of HTTP: the URL of a request, and the name of the host. In an
 * accepted URL, no path element leads elsewhere, and all parts are clean text.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "http/guard.h"
#include "http/url.h"
#include "tests/fuzz/fuzz.h"

static void check_clean(const char *text)
{
	for (size_t n = strlen(text), i = 0, length; i < n; i += length) {
		length = utf8_length(text + i, n - i);
		if (!length || (unsigned char)text[i] < ' ' || text[i] == 127)
			abort();
	}
}

static void check_part(const char *part)
{
	check_clean(part);
	if (strchr(part, '/') || strcmp(part, ".") == 0 || strcmp(part, "..") == 0)
		abort();
}

static void check_url(const char *text)
{
	static struct http_url u;

	if (http_url_parse(&u, text))
		return;
	if (text[0] != '/' || strncmp(text, u.path, strlen(u.path)) != 0 || !u.n_parts)
		abort();
	for (size_t i = 0; i < u.n_parts; i++)
		check_part(u.parts[i]);
	for (size_t i = 0; i < u.n_pairs; i++) {
		check_clean(u.keys[i]);
		check_clean(u.values[i]);
		if (!http_url_find(&u, u.keys[i]))
			abort();
	}
}

/* An accepted name ends with "localhost". */
static void check_host(const char *text)
{
	size_t n = strcspn(text, ":");

	if (!http_guard_is_ours(text, "") || text[0] == '[' || strncmp(text, "127.", 4) == 0)
		return;
	if (n < strlen("localhost") ||
		strncasecmp(text + n - strlen("localhost"), "localhost", 9) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	_cleanup_free_ char *text = strndup((const char *)data, n_bytes);

	check_url(text);
	check_host(text);
	return 0;
}
