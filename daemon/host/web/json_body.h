/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a request: a JSON object, member by member. */
#ifndef DAEMON_JSON_BODY_H
#define DAEMON_JSON_BODY_H

#include <stddef.h>

#include <jansson.h>

struct diag;

struct json_body_steps {
	/* Of each member, in the order of the text, until one fails. 0, or a negative errno with words in |d|. */
	int (*take)(void *context, const char *name, const json_t *value, struct diag *d);
	/* When all were taken. The same. */
	int (*check)(const void *context, const json_t *body, struct diag *d);
};

/* |n| bytes at |text|, of anybody. 0, what a step returned, or -EINVAL when it is no object; with words in |d|. */
int json_body_read(const char *text, size_t n, const struct json_body_steps *steps, void *context,
	struct diag *d);

#endif
