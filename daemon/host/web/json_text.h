/* SPDX-License-Identifier: Apache-2.0 */
/* One JSON object in memory. */
#ifndef DAEMON_JSON_TEXT_H
#define DAEMON_JSON_TEXT_H

#include <stddef.h>

#include "trace/json.h"

struct json_text {
	struct json json; /* its members are written here */
	char *text;
	size_t n;
};

/* 0 or -ENOMEM. */
int json_text_begin(struct json_text *t);
/* The object without a line break, malloc'ed, and its length in *n unless that is NULL; NULL when memory ran out. */
char *json_text_end(struct json_text *t, size_t *n);

#endif
