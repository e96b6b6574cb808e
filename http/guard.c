/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of requests; see guard.h. */
#include "http/guard.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "base/local_name.h"
#include "base/utf8.h"
#include "http/exchange.h"

/* --- Tokens ---------------------------------------------------------------------------------- */

#define RANDOM_BYTES ((HTTP_TOKEN_BYTES - 1) / 2)

/*
 * Finds a place for a new token. If |uid| has as many as a user may have: the least recently used
 * one of |uid|. Else: a free one, or if there is none, the least recently used one of all.
 */
static struct http_token *tokens_choose(struct http_tokens *t, uid_t uid)
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
	struct http_token *chosen = tokens_choose(t, uid);

	if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
		return -EIO;
	for (size_t i = 0; i < sizeof bytes; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	strcpy(chosen->text, text);
	chosen->uid = uid;
	chosen->n_used = ++t->n_used;
	return 0;
}

/* Compares in constant time, so that the time does not show how much of a guess was right. */
static bool token_is_equal(const char *a, const char *b)
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

		if (!v->text[0] || v->uid != uid || !token_is_equal(v->text, text))
			continue;
		v->n_used = ++t->n_used;
		return true;
	}
	return false;
}

#define MAX_HOST_BYTES 256

/* --- The host -------------------------------------------------------------------------------- */

/*
 * Cuts "[::1]:9022" to "[::1]", and "localhost:9022" to "localhost"; a host without a port stays.
 * False: |host| is malformed.
 */
static bool host_cut_port(char *host)
{
	char *bracket = host[0] == '[' ? strchr(host, ']') : NULL;
	char *end = bracket ? bracket + 1 : host + strcspn(host, ":");

	if (*end == ':' && end[1 + strspn(end + 1, "0123456789")] == '\0')
		*end = '\0';
	return *end == '\0';
}

static bool host_is_loopback(const char *host)
{
	struct in_addr v4;

	if (local_name_is(host) || strcmp(host, "[::1]") == 0)
		return true;
	return inet_pton(AF_INET, host, &v4) == 1 &&
	       ntohl(v4.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET;
}

static bool host_is_listed(const char *host, const char *names)
{
	size_t n = strlen(host);

	for (size_t n_name; *names; names += n_name + (names[n_name] == ',')) {
		n_name = strcspn(names, ",");
		if (n_name == n && n && strncasecmp(host, names, n) == 0)
			return true;
	}
	return false;
}

/* Copies |host| without its port; false: it is too long or malformed. */
static bool host_find_name(const char *host, char name[static MAX_HOST_BYTES])
{
	if (strlen(host) >= MAX_HOST_BYTES)
		return false;
	strcpy(name, host);
	return host_cut_port(name);
}

bool http_guard_is_ours(const char *host, const char *names)
{
	char name[MAX_HOST_BYTES];

	return host_find_name(host, name) &&
	       (host_is_loopback(name) || host_is_listed(name, names));
}

static bool has_our_host(const struct http_guard *g, struct http_exchange *x)
{
	const char *host = http_get_header(x, "Host");
	char shown[104];

	if (host && http_guard_is_ours(host, g->names))
		return true;
	http_refuse(x, 421, "the host \"%s\" is not one of this daemon's names; use localhost",
		utf8_fit(shown, sizeof shown, host ? host : ""));
	return false;
}

/* --- The requesting page --------------------------------------------------------------------- */

static bool is_origin(const char *origin, const char *scheme, const char *host)
{
	size_t n = strlen(scheme);

	return strncmp(origin, scheme, n) == 0 && strcasecmp(origin + n, host) == 0;
}

/*
 * Compares |origin| with http://HOST, as the browser wrote both. https is accepted for |names|
 * only, since it is not used on loopback.
 */
static bool is_same_origin(
	const struct http_guard *g, const struct http_exchange *x, const char *origin)
{
	const char *host = http_get_header(x, "Host");
	char name[MAX_HOST_BYTES];

	return is_origin(origin, "http://", host) ||
	       (is_origin(origin, "https://", host) && host_find_name(host, name) &&
		       host_is_listed(name, g->names));
}

static bool is_word(const char *text, const char *word)
{
	return text && strcmp(text, word) == 0;
}

static bool is_followed_link(const struct http_exchange *x)
{
	return is_word(http_get_header(x, "Sec-Fetch-Mode"), "navigate") &&
	       is_word(http_get_header(x, "Sec-Fetch-Dest"), "document") &&
	       is_word(http_get_method(x), "GET");
}

static bool is_of_our_page(const struct http_guard *g, struct http_exchange *x)
{
	const char *origin = http_get_header(x, "Origin");
	const char *site = http_get_header(x, "Sec-Fetch-Site");
	bool is_foreign = site && !is_word(site, "same-origin") && !is_word(site, "none");

	if ((!origin || is_same_origin(g, x, origin)) && (!is_foreign || is_followed_link(x)))
		return true;
	http_refuse(x, 403, "pages of other sites may not send requests to this daemon");
	return false;
}

static bool may_write(struct http_guard *g, struct http_exchange *x)
{
	const char *token = http_get_header(x, HTTP_TOKEN_HEADER);

	if (is_word(http_get_method(x), "GET") || is_word(http_get_method(x), "OPTIONS"))
		return true;
	if (token && http_tokens_check(&g->tokens, http_get_peer(x)->uid, token))
		return true;
	http_refuse(x, 403,
		"a request that writes needs the header " HTTP_TOKEN_HEADER
		" with a token of GET /api/v1/session%s",
		token ? "; this one is not known any more" : "");
	return false;
}

bool http_guard_pass(struct http_guard *g, struct http_exchange *x)
{
	return has_our_host(g, x) && is_of_our_page(g, x) && may_write(g, x);
}
