/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of methods and paths that selects the handler of a request. A path in no row is answered
 * 404; a method in no row of its path, 405 with Allow. OPTIONS is answered with Allow, too. HEAD
 * uses the row of GET.
 */
#ifndef HTTP_ROUTER_H
#define HTTP_ROUTER_H

#include <stddef.h>

struct http_exchange;
struct http_guard;

struct http_route {
	const char *method; /* "GET", "POST", "PUT", "PATCH", "DELETE" */
	/*
	 * For example "/api/v1/targets/{pid}": a part in braces matches any one part, which
	 * http_get_param() returns. The first row that matches counts.
	 */
	const char *path;
	size_t max_body_bytes;
	void (*handle)(struct http_exchange *x, void *context);
	/* comma list of the keys allowed in the query; NULL: any key, and none is read */
	const char *query;
};

struct http_router {
	const struct http_route *routes;
	size_t n_routes;
	struct http_guard *guard; /* of all routes; NULL: none */
	void *context; /* of the handlers */
};

/* The functions for http_server_options.begin and .handle. */
void http_router_begin(const struct http_router *r, struct http_exchange *x);
void http_router_handle(const struct http_router *r, struct http_exchange *x);

#endif
