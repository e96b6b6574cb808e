/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The web page of the host daemon: the files of site/ as bytes in the program, plain and compressed
 * by gzip. The page works through the JSON API (docs/http-api.md).
 */
#ifndef DAEMON_PAGE_H
#define DAEMON_PAGE_H

struct http_exchange;

/* GET /: the page itself. */
void page_answer(struct http_exchange *x, void *context);
/* GET /page/{file}: a file that the page loads. */
void page_answer_file(struct http_exchange *x, void *context);

#endif
