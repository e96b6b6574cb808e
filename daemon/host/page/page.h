/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The web page of the host daemon: the files of site/ as bytes in the program, plain and compressed
 * by gzip. The page works through the JSON API (docs/http-api.md).
 */
#ifndef DAEMON_PAGE_H
#define DAEMON_PAGE_H

#include <stddef.h>

struct http_exchange;

/* A file of the page; daemon/host/page/embed generates the array of them. */
struct page_file {
	const char *name; /* "main.js" */
	const char *type; /* for Content-Type */
	const char *etag; /* of the bytes, with its quotation marks */
	const unsigned char *bytes;
	size_t n_bytes;
	const char *packed_etag; /* of the bytes that gzip made */
	const unsigned char *packed;
	size_t n_packed;
};

extern const struct page_file page_files[];
extern const size_t n_page_files;

/* GET /: the page itself. */
void page_answer(struct http_exchange *x, void *context);
/* GET /page/{file}: a file that the page loads. */
void page_answer_file(struct http_exchange *x, void *context);

#endif
