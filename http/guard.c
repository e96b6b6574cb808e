/* SPDX-License-Identifier: Apache-2.0 */
/* Which requests pass; see guard.h. */
#include "http/guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/local_name.h"
#include "base/utf8.h"
#include "http/exchange.h"

#define MAX_HOST_BYTES 256

/* --- the host ------------------------------------------------------------------------------ */

/* "[::1]:9022" to "[::1]", "localhost:9022" to "localhost"; false: that is neither. */
static bool cut_port(char *host)
{
	char *bracket = host[0] == '[' ? strchr(host, ']') : NULL;
	char *end = bracket ? bracket + 1 : host + strcspn(host, ":");

	if (*end == ':' && end[1 + strspn(end + 1, "0123456789")] == '\0')
		*end = '\0';
	return *end == '\0';
}

static bool is_loopback(const char *host)
{
	struct in_addr v4;

	if (local_name_is(host) || strcmp(host, "[::1]") == 0)
		return true;
	return inet_pton(AF_INET, host, &v4) == 1 &&
	       ntohl(v4.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET;
}

static bool is_listed(const char *host, const char *names)
{
	size_t n = strlen(host);

	for (size_t n_name; *names; names += n_name + (names[n_name] == ',')) {
		n_name = strcspn(names, ",");
		if (n_name == n && n && strncasecmp(host, names, n) == 0)
			return true;
	}
	return false;
}

/* |host| without its port; false: it is none. */
static bool find_name(const char *host, char name[static MAX_HOST_BYTES])
{
	if (strlen(host) >= MAX_HOST_BYTES)
		return false;
	strcpy(name, host);
	return cut_port(name);
}

bool http_guard_is_ours(const char *host, const char *names)
{
	char name[MAX_HOST_BYTES];

	return find_name(host, name) && (is_loopback(name) || is_listed(name, names));
}

static bool has_our_host(const struct http_guard *g, struct http_exchange *x)
{
	const char *host = http_get_header(x, "Host");
	char shown[104];

	if (host && http_guard_is_ours(host, g->names))
		return true;
	http_refuse(x, 421, "the host \"%s\" is no name of this daemon's; ask localhost",
		utf8_fit(shown, sizeof shown, host ? host : ""));
	return false;
}

/* --- the page that asks -------------------------------------------------------------------- */

/* Whether |origin| is |scheme| and |host|. */
static bool is_origin(const char *origin, const char *scheme, const char *host)
{
	size_t n = strlen(scheme);

	return strncmp(origin, scheme, n) == 0 && strcasecmp(origin + n, host) == 0;
}

/* Where the request goes is http://HOST, as the browser wrote both; nobody speaks https on loopback. */
static bool is_same_origin(
	const struct http_guard *g, const struct http_exchange *x, const char *origin)
{
	const char *host = http_get_header(x, "Host");
	char name[MAX_HOST_BYTES];

	return is_origin(origin, "http://", host) ||
	       (is_origin(origin, "https://", host) && find_name(host, name) &&
		       is_listed(name, g->names));
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
	http_refuse(x, 403, "pages of other sites may not ask this daemon");
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
		"what writes needs the header " HTTP_TOKEN_HEADER
		" with a token of GET /api/v1/session%s",
		token ? "; this one is not known any more" : "");
	return false;
}

bool http_guard_pass(struct http_guard *g, struct http_exchange *x)
{
	return has_our_host(g, x) && is_of_our_page(g, x) && may_write(g, x);
}
