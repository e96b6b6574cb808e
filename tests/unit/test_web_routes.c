/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that the daemon's routes and docs/openapi.json are the same. */
#include "daemon/host/web/web.h"

#include <check.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

#include <jansson.h>

#define API "/api/v1/"

static json_t *document;

static void read_document(void)
{
	const char *root = getenv("top_srcdir");
	char path[4096];
	json_error_t error;

	snprintf(path, sizeof path, "%s/docs/openapi.json", root ? root : ".");
	document = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	ck_assert_msg(document != NULL, "%s:%d: %s", path, error.line, error.text);
}

static void forget_document(void)
{
	json_decref(document);
}

static bool is_of_api(const struct http_route *route)
{
	return strncmp(route->path, API, strlen(API)) == 0;
}

/* Returns the entry of |method| and |path| in the document, or NULL. */
static json_t *find(const char *path, const char *method)
{
	char lower[16];
	size_t i;

	for (i = 0; method[i] && i < sizeof lower - 1; i++)
		lower[i] = (char)tolower((unsigned char)method[i]);
	lower[i] = '\0';
	return json_object_get(json_object_get(json_object_get(document, "paths"), path), lower);
}

START_TEST(each_route_is_in_the_document)
{
	size_t n = 0;

	for (size_t i = 0; i < n_web_routes; i++) {
		const struct http_route *route = &web_routes[i];

		if (!is_of_api(route))
			continue;
		n++;
		ck_assert_msg(find(route->path, route->method) != NULL,
			"%s %s is not in openapi.json", route->method, route->path);
	}
	ck_assert_uint_gt(n, 0);
}
END_TEST

static bool has_route(const char *path, const char *method)
{
	for (size_t i = 0; i < n_web_routes; i++)
		if (strcmp(web_routes[i].path, path) == 0 &&
			strcasecmp(web_routes[i].method, method) == 0)
			return true;
	return false;
}

START_TEST(all_of_the_document_has_routes)
{
	const char *path, *method;
	json_t *operations, *operation;

	json_object_foreach(json_object_get(document, "paths"), path, operations)
	{
		json_object_foreach(operations, method, operation)
		{
			ck_assert_msg(has_route(path, method), "%s %s has no route", method, path);
		}
	}
}
END_TEST

/* The document names a body if and only if the route takes one. */
START_TEST(the_document_and_the_routes_agree_on_bodies)
{
	for (size_t i = 0; i < n_web_routes; i++) {
		const struct http_route *route = &web_routes[i];
		json_t *body = json_object_get(find(route->path, route->method), "requestBody");

		if (is_of_api(route))
			ck_assert_msg((route->max_body_bytes != 0) == (body != NULL), "%s %s",
				route->method, route->path);
	}
}
END_TEST

static bool has_token(const json_t *operation)
{
	const json_t *parameters = json_object_get(operation, "parameters");

	for (size_t i = 0; i < json_array_size(parameters); i++)
		if (strcmp(json_string_value(
				   json_object_get(json_array_get(parameters, i), "name")),
			    HTTP_TOKEN_HEADER) == 0)
			return true;
	return false;
}

START_TEST(the_document_names_the_token_of_writing_methods)
{
	for (size_t i = 0; i < n_web_routes; i++) {
		const struct http_route *route = &web_routes[i];

		if (is_of_api(route))
			ck_assert_msg(has_token(find(route->path, route->method)) ==
					      (strcmp(route->method, "GET") != 0),
				"%s %s", route->method, route->path);
	}
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(each_route_is_in_the_document),
	UNIT_TEST(all_of_the_document_has_routes),
	UNIT_TEST(the_document_and_the_routes_agree_on_bodies),
	UNIT_TEST(the_document_names_the_token_of_writing_methods),
	{NULL},
};

UNIT_MAIN("web_routes", .set_up = read_document, .tear_down = forget_document, .tests = tests)
