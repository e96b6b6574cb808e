/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the page; see page.h. */
#include "daemon/host/page/page.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http/exchange.h"

static const struct page_file *find_file(const char *name)
{
	for (size_t i = 0; i < n_page_files; i++)
		if (strcmp(page_files[i].name, name) == 0)
			return &page_files[i];
	return NULL;
}

/*
 * Returns true if |tags|, which the browser has already, contain |etag|. The quotation marks keep
 * one tag from being a part of another.
 */
static bool is_known(const char *tags, const char *etag)
{
	return tags && (strcmp(tags, "*") == 0 || strstr(tags, etag));
}

/* Returns true if the weight after an encoding, such as ";q=0.5", is 0: it is refused. */
static bool is_refused(const char *weight)
{
	const char *q = strstr(weight, "q=");

	return q && strtod(q + 2, NULL) <= 0;
}

/*
 * Returns true if a client with the header |encodings| (RFC 9110, 12.5.3) accepts gzip. A client
 * without that header (NULL) does not.
 */
static bool takes_gzip(const char *encodings)
{
	char copy[256];
	char *rest = copy;
	char *word;
	int verdict = -1; /* of "*"; the word "gzip" has precedence */

	snprintf(copy, sizeof copy, "%s", encodings ? encodings : "");
	while ((word = strsep(&rest, ","))) {
		size_t n;

		word += strspn(word, " \t");
		n = strcspn(word, "; \t");
		if (n == 4 && strncasecmp(word, "gzip", n) == 0)
			return !is_refused(word + n);
		if (n == 1 && *word == '*')
			verdict = !is_refused(word + n);
	}
	return verdict > 0;
}

/* Browsers may keep the file, but must ask each time, because a newer daemon has a newer page. */
static void answer_with_file(struct http_exchange *x, const struct page_file *file)
{
	bool is_packed = takes_gzip(http_get_header(x, "Accept-Encoding"));
	const char *etag = is_packed ? file->packed_etag : file->etag;

	http_set_header(x, "Cache-Control", "no-cache");
	http_set_header(x, "Vary", "Accept-Encoding");
	http_set_header(x, "ETag", etag);
	if (is_known(http_get_header(x, "If-None-Match"), etag)) {
		http_reply_bytes(x, 304, file->type, "", 0);
		return;
	}
	if (is_packed)
		http_set_header(x, "Content-Encoding", "gzip");
	http_reply_static(x, file->type, is_packed ? file->packed : file->bytes,
		is_packed ? file->n_packed : file->n_bytes);
}

void page_answer(struct http_exchange *x, void *context)
{
	(void)context;
	answer_with_file(x, find_file("index.html"));
}

void page_answer_file(struct http_exchange *x, void *context)
{
	const struct page_file *file = find_file(http_get_param(x, "file"));

	(void)context;
	if (file)
		answer_with_file(x, file);
	else
		http_refuse(x, 404, "no such file of the page");
}
