/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a request asks for, taken apart: "/runs/a%20b?tool=x" into the parts "runs" and "a b" and the pair tool, x. Parts that
 * are "." or "..", or hold a '/', a control character or a byte that is no UTF-8 when percent signs are undone, are no path of
 * ours; so no part can lead elsewhere as the name of a file.
 */
#ifndef HTTP_URL_H
#define HTTP_URL_H

#include <stddef.h>

#define HTTP_MAX_URL_BYTES 2048
#define HTTP_MAX_PARTS 16
#define HTTP_MAX_PAIRS 32

struct http_url {
	char path[HTTP_MAX_URL_BYTES]; /* as it came, without the query */
	char text[HTTP_MAX_URL_BYTES]; /* where the others lie */
	const char *parts[HTTP_MAX_PARTS]; /* of "/a/b/" "a", "b" and ""; of "/" just "" */
	size_t n_parts;
	const char *keys[HTTP_MAX_PAIRS];
	const char *values[HTTP_MAX_PAIRS]; /* "" without '=' */
	size_t n_pairs;
};

/* 0; -ENAMETOOLONG: it is too long, or has too many parts or pairs; -EINVAL: as said above. */
int http_url_parse(struct http_url *u, const char *text);

/* The first value of |key|, or NULL. */
const char *http_url_find(const struct http_url *u, const char *key);

#endif
