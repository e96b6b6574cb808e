/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses the URL of a request: "/runs/a%20b?tool=x" has the parts "runs" and "a b" and the pair
 * tool, x. A path is refused if a decoded part is "." or "..", or holds a '/', a control character
 * or a byte that is not UTF-8. So a part that is used as a file name cannot leave its directory.
 */
#ifndef HTTP_URL_H
#define HTTP_URL_H

#include <stddef.h>

#define HTTP_MAX_URL_BYTES 2048
#define HTTP_MAX_PARTS 16
#define HTTP_MAX_PAIRS 32

struct http_url {
	char path[HTTP_MAX_URL_BYTES]; /* as received, without the query */
	char text[HTTP_MAX_URL_BYTES]; /* the storage of the parts, keys and values */
	const char *parts[HTTP_MAX_PARTS]; /* "/a/b/" has "a", "b" and ""; "/" has just "" */
	size_t n_parts;
	const char *keys[HTTP_MAX_PAIRS];
	const char *values[HTTP_MAX_PAIRS]; /* "" if the pair has no '=' */
	size_t n_pairs;
};

/*
 * Parses |text|. Returns 0; -ENAMETOOLONG: |text| is too long, or has too many parts or pairs;
 * -EINVAL: the path is refused as described above, does not begin with '/', or |text| has a '#', a
 * wrong percent-encoding, or a query with a control character or a byte that is not UTF-8.
 */
int http_url_parse(struct http_url *u, const char *text);

/* Returns the first value of |key|, or NULL. */
const char *http_url_find(const struct http_url *u, const char *key);

#endif
