/* SPDX-License-Identifier: Apache-2.0 */
/* The table of routes; see router.h. */
#include "http/router.h"

#include <stdio.h>
#include <string.h>

#include "http/guard.h"
#include "http/server_parts.h"

#define ALLOW_BYTES 64

/* --- One row --------------------------------------------------------------------------------- */

/* Returns the next part of a row's path, |*n| bytes; NULL after the last one. */
static const char *route_next_part(const char **path, size_t *n)
{
	const char *part = *path;

	if (!part)
		return NULL;
	*n = strcspn(part, "/");
	*path = part[*n] ? part + *n + 1 : NULL;
	return part;
}

static bool route_part_matches(const char *pattern, size_t n, const char *part)
{
	if (n > 2 && pattern[0] == '{')
		return part[0] != '\0';
	return strlen(part) == n && memcmp(pattern, part, n) == 0;
}

static bool route_matches(const struct http_route *route, const struct http_url *u)
{
	const char *path = route->path + 1;
	const char *pattern;
	size_t n;

	for (size_t i = 0; i < u->n_parts; i++) {
		pattern = route_next_part(&path, &n);
		if (!pattern || !route_part_matches(pattern, n, u->parts[i]))
			return false;
	}
	return path == NULL;
}

const char *http_get_param(const struct http_exchange *x, const char *name)
{
	const char *path = x->route ? x->route->path + 1 : NULL;
	size_t n_name = strlen(name);
	const char *pattern;
	size_t n;

	for (size_t i = 0; (pattern = route_next_part(&path, &n)); i++)
		if (n == n_name + 2 && pattern[0] == '{' && memcmp(pattern + 1, name, n_name) == 0)
			return x->url.parts[i];
	return NULL;
}

/* --- All rows -------------------------------------------------------------------------------- */

static const struct http_route *find_route(
	const struct http_router *r, const struct http_exchange *x)
{
	for (size_t i = 0; i < r->n_routes; i++)
		if (strcmp(r->routes[i].method, x->method) == 0 &&
			route_matches(&r->routes[i], &x->url))
			return &r->routes[i];
	return NULL;
}

static void allow_append(char *to, const char *word)
{
	size_t n = strlen(to);

	snprintf(to + n, ALLOW_BYTES - n, "%s%s", n ? ", " : "", word);
}

/* Writes a list such as "GET, HEAD, OPTIONS"; "": no row has the path. */
static void list_methods(const struct http_router *r, const struct http_exchange *x, char *out)
{
	out[0] = '\0';
	for (size_t i = 0; i < r->n_routes; i++) {
		const char *method = r->routes[i].method;

		if (!route_matches(&r->routes[i], &x->url) || strstr(out, method))
			continue;
		allow_append(out, method);
		if (strcmp(method, "GET") == 0)
			allow_append(out, "HEAD");
	}
	if (out[0])
		allow_append(out, "OPTIONS");
}

static void router_refuse(const struct http_router *r, struct http_exchange *x)
{
	char methods[ALLOW_BYTES];

	list_methods(r, x, methods);
	if (!methods[0]) {
		http_refuse(x, 404, "nothing is there");
		return;
	}
	http_set_header(x, "Allow", methods);
	if (strcmp(x->method, "OPTIONS") != 0)
		http_refuse(x, 405, "%.16s is not allowed here; use %s", x->method, methods);
}

/* Returns true if the comma list |names| has |key|. */
static bool list_has_name(const char *names, const char *key)
{
	size_t n = strlen(key);

	for (const char *name = names; *name; name += strspn(name, ", ")) {
		if (strcspn(name, ",") == n && strncmp(name, key, n) == 0)
			return true;
		name += strcspn(name, ",");
	}
	return false;
}

/* Refuses a key that the route does not read: it is a mistake that the client should learn of. */
static bool router_check_query(struct http_exchange *x)
{
	const char *names = x->route->query;

	for (size_t i = 0; names && i < x->url.n_pairs; i++) {
		if (list_has_name(names, x->url.keys[i]))
			continue;
		if (names[0])
			http_refuse(x, 400, "%.64s: no such parameter; there are %s",
				x->url.keys[i], names);
		else
			http_refuse(
				x, 400, "%.64s: no such parameter; there is none", x->url.keys[i]);
		return false;
	}
	return true;
}

void http_router_begin(const struct http_router *r, struct http_exchange *x)
{
	if (r->guard && !http_guard_pass(r->guard, x))
		return;
	x->route = find_route(r, x);
	if (!x->route)
		router_refuse(r, x);
	else if (router_check_query(x))
		http_expect_body(x, x->route->max_body_bytes);
}

void http_router_handle(const struct http_router *r, struct http_exchange *x)
{
	if (x->route)
		x->route->handle(x, r->context);
	else
		http_reply_bytes(x, 204, NULL, "", 0);
}
