/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Against other pages in the browser of somebody who may ask. A request is refused when
 *  - its Host is no name of this machine's loopback, nor one of |names|: a name that somebody gave 127.0.0.1 would make his page
 *    same-origin with ours (DNS rebinding);
 *  - its Origin is not where it goes (for one of |names| by https, too: a proxy may speak that), or Sec-Fetch-Site says that another site's page made it, unless somebody followed a link;
 *  - it writes (is not GET) without the header X-Proftap-Token with a token that was issued to the same user (http/tokens.h).
 */
#ifndef HTTP_GUARD_H
#define HTTP_GUARD_H

#include <stdbool.h>

#include "http/tokens.h"

#define HTTP_TOKEN_HEADER "X-Proftap-Token"

struct http_exchange;

struct http_guard {
	const char *names; /* more hosts, separated by commas; "": none */
	struct http_tokens tokens;
};

/* Whether it may pass; if not it was refused (403, of the Host 421). */
bool http_guard_pass(struct http_guard *g, struct http_exchange *x);

/*
 * Whether a Host, with its port or without, is "localhost" or ends in ".localhost", is in 127.0.0.0/8, is "[::1]", or one of
 * |names|. Whichever port: a tunnel has another one.
 */
bool http_guard_is_ours(const char *host, const char *names);

#endif
