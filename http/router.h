/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which handler answers which request: a table of methods and paths. What is in no row is 404; a method that no row of the path has is 405 with
 * Allow, and OPTIONS is answered with that. HEAD goes where GET does.
 */
#ifndef HTTP_ROUTER_H
#define HTTP_ROUTER_H

#include <stdbool.h>
#include <stddef.h>

struct http_exchange;
struct http_guard;

struct http_route {
	const char *method; /* "GET", "POST", "PUT", "PATCH", "DELETE" */
	/*
	 * "/api/v1/targets/{pid}": a part in braces is any one part of a path, which http_get_param() tells. A path's first fitting row of
	 * the table counts.
	 */
	const char *path;
	size_t max_body_bytes;
	void (*handle)(struct http_exchange *x, void *context);
	const char *
		query; /* comma list of the keys that the query may have; NULL: any, which are not looked at */
};

struct http_router {
	const struct http_route *routes;
	size_t n_routes;
	struct http_guard *guard; /* of all of them; NULL: none */
	void *context; /* the handlers' */
};

/* What http_server_options.begin and .handle do. */
void http_router_begin(const struct http_router *r, struct http_exchange *x);
void http_router_handle(const struct http_router *r, struct http_exchange *x);

#endif
