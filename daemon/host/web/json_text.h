/* SPDX-License-Identifier: Apache-2.0 */
/* JSON objects as texts in memory: those that the daemon writes, and the bodies of requests. */
#ifndef DAEMON_JSON_TEXT_H
#define DAEMON_JSON_TEXT_H

#include <stddef.h>

#include <jansson.h>

#include "trace/json.h"

struct diag;

struct json_text {
	struct json json; /* the writer of the object's members */
	char *text;
	size_t n;
};

/* 0 or -ENOMEM. */
int json_text_begin(struct json_text *t);
/*
 * Returns the object without a line break, malloc'ed, and its length in *n unless |n| is NULL; or
 * NULL when memory ran out.
 */
char *json_text_end(struct json_text *t, size_t *n);

/* --- the body of a request -------------------------------------------------------------------- */

struct json_body_steps {
	/*
	 * Called for each member, in the order of the text, until one fails. 0, or a negative errno
	 * with words in |d|.
	 */
	int (*take)(void *context, const char *name, const json_t *value, struct diag *d);
	/* Called after all members were taken. Returns as |take| does. */
	int (*check)(const void *context, const json_t *body, struct diag *d);
};

/*
 * Reads |n| bytes of untrusted text. 0, the result of a failed step, or -EINVAL when the text is no
 * JSON object; with words in |d|.
 */
int json_body_read(const char *text, size_t n, const struct json_body_steps *steps, void *context,
	struct diag *d);

#endif
