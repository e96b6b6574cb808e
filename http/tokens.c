/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of pages; see tokens.h. */
#include "http/tokens.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#define RANDOM_BYTES ((HTTP_TOKEN_BYTES - 1) / 2)

/* Free, or of |uid| when he has as many as he may; else the one that was used longest ago. */
static struct http_token *choose(struct http_tokens *t, uid_t uid)
{
	struct http_token *oldest = &t->v[0];
	struct http_token *oldest_of_user = NULL;
	size_t n_of_user = 0;

	for (size_t i = 0; i < HTTP_MAX_TOKENS; i++) {
		struct http_token *v = &t->v[i];

		if (v->n_used < oldest->n_used)
			oldest = v;
		if (!v->text[0] || v->uid != uid)
			continue;
		n_of_user++;
		if (!oldest_of_user || v->n_used < oldest_of_user->n_used)
			oldest_of_user = v;
	}
	return n_of_user < HTTP_MAX_TOKENS_OF_USER ? oldest : oldest_of_user;
}

int http_tokens_issue(struct http_tokens *t, uid_t uid, char text[HTTP_TOKEN_BYTES])
{
	unsigned char bytes[RANDOM_BYTES];
	struct http_token *chosen = choose(t, uid);

	if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
		return -EIO;
	for (size_t i = 0; i < sizeof bytes; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	strcpy(chosen->text, text);
	chosen->uid = uid;
	chosen->n_used = ++t->n_used;
	return 0;
}

/* In a time that does not tell how much of it was right. */
static bool is_equal(const char *a, const char *b)
{
	unsigned char difference = 0;

	for (size_t i = 0; i < HTTP_TOKEN_BYTES - 1; i++)
		difference |= (unsigned char)(a[i] ^ b[i]);
	return difference == 0;
}

bool http_tokens_check(struct http_tokens *t, uid_t uid, const char *text)
{
	if (strlen(text) != HTTP_TOKEN_BYTES - 1)
		return false;
	for (size_t i = 0; i < HTTP_MAX_TOKENS; i++) {
		struct http_token *v = &t->v[i];

		if (!v->text[0] || v->uid != uid || !is_equal(v->text, text))
			continue;
		v->n_used = ++t->n_used;
		return true;
	}
	return false;
}
