/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens of pages: a page fetches one, which no other site's page can read, and says it with each request that writes. They are random, known
 * to this process only, of the user whom it was issued to, and valid until so many have been issued after its last use.
 */
#ifndef HTTP_TOKENS_H
#define HTTP_TOKENS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define HTTP_MAX_TOKENS 256
/* Of a user: one cannot push out all others'. */
#define HTTP_MAX_TOKENS_OF_USER 64
#define HTTP_TOKEN_BYTES 33 /* as text, with its end */

struct http_token {
	char text[HTTP_TOKEN_BYTES]; /* "": free */
	uid_t uid;
	uint64_t n_used; /* when it was used last, in uses of all */
};

/* All zero is none issued. */
struct http_tokens {
	struct http_token v[HTTP_MAX_TOKENS];
	uint64_t n_used;
};

/* A new one, into |text|. 0 or a negative errno. */
int http_tokens_issue(struct http_tokens *t, uid_t uid, char text[HTTP_TOKEN_BYTES]);
bool http_tokens_check(struct http_tokens *t, uid_t uid, const char *text);

#endif
