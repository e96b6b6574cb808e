/* SPDX-License-Identifier: Apache-2.0 */
/* The page's files; see page.h. */
#include "daemon/host/page/page.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/host/page/page_files.h"
#include "http/exchange.h"

static const struct page_file *find_file(const char *name)
{
	for (size_t i = 0; i < n_page_files; i++)
		if (strcmp(page_files[i].name, name) == 0)
			return &page_files[i];
	return NULL;
}

/* Whether |tags|, those that a browser has got already, names |etag|. One is no part of another: each is in quotation marks. */
static bool is_known(const char *tags, const char *etag)
{
	return tags && (strcmp(tags, "*") == 0 || strstr(tags, etag));
}

/* Whether a weight, such as ";q=0.5" after a name, is 0, which refuses the name. */
static bool is_refused(const char *weight)
{
	const char *q = strstr(weight, "q=");

	return q && strtod(q + 2, NULL) <= 0;
}

/*
 * Whether a client that sends |encodings| (RFC 9110, 12.5.3) takes gzip. A client without that
 * header (NULL) does not.
 */
static bool takes_gzip(const char *encodings)
{
	char copy[256];
	char *rest = copy;
	char *word;
	int verdict = -1; /* what "gzip" says goes before what "*" says */

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

/* It may be kept, but is to be asked for each time: a newer daemon has a newer page. */
static void answer(struct http_exchange *x, const struct page_file *file)
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
	answer(x, find_file("index.html"));
}

void page_answer_file(struct http_exchange *x, void *context)
{
	const struct page_file *file = find_file(http_get_param(x, "file"));

	(void)context;
	if (file)
		answer(x, file);
	else
		http_refuse(x, 404, "no such file of the page");
}
