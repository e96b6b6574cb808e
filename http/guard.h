/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protects the API from other web pages in the browser of an entitled user. A request is refused
 * when
 *  - its Host is no loopback name of this machine and none of |names|. Otherwise an attacker could
 *    give his page's name the address 127.0.0.1, and the page would have our origin (DNS
 *    rebinding);
 *  - its Origin differs from its Host (https also counts for |names|, since a proxy may speak it);
 *  - Sec-Fetch-Site names another site, unless the user followed a link from there;
 *  - it writes (is neither GET nor OPTIONS) without the header X-Proftap-Token and a token that was
 *    issued to the same user. A page fetches its token, which pages of other sites cannot read.
 *    Tokens are random and known to this process only. When there is no room for a new token, it
 *    replaces the one that was used least recently.
 */
#ifndef HTTP_GUARD_H
#define HTTP_GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define HTTP_TOKEN_HEADER "X-Proftap-Token"

struct http_exchange;

#define HTTP_MAX_TOKENS 256
/* The limit of one user, so that one user cannot push out all other users' tokens. */
#define HTTP_MAX_TOKENS_OF_USER 64
#define HTTP_TOKEN_BYTES 33 /* as text, with the '\0' */

struct http_token {
	char text[HTTP_TOKEN_BYTES]; /* "": free */
	uid_t uid;
	uint64_t n_used; /* the value of http_tokens.n_used at its last use */
};

/* Zero is the state without tokens. */
struct http_tokens {
	struct http_token v[HTTP_MAX_TOKENS];
	uint64_t n_used;
};

/* Writes a new token into |text|. 0 or a negative errno. */
int http_tokens_issue(struct http_tokens *t, uid_t uid, char text[HTTP_TOKEN_BYTES]);
bool http_tokens_check(struct http_tokens *t, uid_t uid, const char *text);

struct http_guard {
	const char *names; /* more hosts, separated by commas; "": none */
	struct http_tokens tokens;
};

/* Returns true if the request may pass; otherwise it was refused (403, or 421 for the Host). */
bool http_guard_pass(struct http_guard *g, struct http_exchange *x);

/*
 * Returns true if a Host, with or without its port, is "localhost" or ends in ".localhost", is in
 * 127.0.0.0/8, is "[::1]", or one of |names|. Any port is accepted, since a tunnel has its own.
 */
bool http_guard_is_ours(const char *host, const char *names);

#endif
