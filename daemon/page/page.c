/* SPDX-License-Identifier: Apache-2.0 */
/* The page's files; see page.h. */
#include "daemon/page/page.h"

#include <string.h>

#include "daemon/page/page_files.h"
#include "http/exchange.h"

static const struct page_file *find_file(const char *name)
{
	for (size_t i = 0; i < n_page_files; i++)
		if (strcmp(page_files[i].name, name) == 0)
			return &page_files[i];
	return NULL;
}

/* Whether |tags|, those that a browser has got already, names |etag|. One is no part of another: each is of one length, in marks. */
static bool is_known(const char *tags, const char *etag)
{
	return tags && (strcmp(tags, "*") == 0 || strstr(tags, etag));
}

/* It may be kept, but is to be asked for each time: a newer daemon has a newer page. */
static void answer(struct http_exchange *x, const struct page_file *file)
{
	http_set_header(x, "Cache-Control", "no-cache");
	http_set_header(x, "ETag", file->etag);
	if (is_known(http_get_header(x, "If-None-Match"), file->etag))
		http_reply_bytes(x, 304, file->type, "", 0);
	else
		http_reply_static(x, file->type, file->bytes, file->n_bytes);
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
