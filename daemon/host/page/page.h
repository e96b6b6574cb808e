/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page that a browser shows of the host daemon: the files of site/, as bytes in the program, also as gzip makes them smaller. The
 * page does all that it does by the JSON API (docs/http-api.md).
 */
#ifndef DAEMON_PAGE_H
#define DAEMON_PAGE_H

struct http_exchange;

/* GET /: the page itself. */
void page_answer(struct http_exchange *x, void *context);
/* GET /page/{file}: what it consists of. */
void page_answer_file(struct http_exchange *x, void *context);

#endif
