/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One JSON object on a stream, on one line, member by member. |key| is NULL for an element of a list, and for the
 * outermost object.
 */
#ifndef TRACE_JSON_H
#define TRACE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;
	bool has_members; /* of the innermost object or list: a comma goes before the next */
};

void json_begin(struct json *j, FILE *out);
void json_end(struct json *j); /* and a line break */

void json_begin_object(struct json *j, const char *key);
void json_end_object(struct json *j);
void json_begin_list(struct json *j, const char *key);
void json_end_list(struct json *j);

/* NULL: null. What may not be on a terminal is escaped; a byte that belongs to no character becomes '?'. */
void json_text(struct json *j, const char *key, const char *value);
/* The same, and "" is null, too: that is what nobody knows. */
void json_known_text(struct json *j, const char *key, const char *value);
void json_texts(struct json *j, const char *key, char *const *values, uint32_t n);
void json_int(struct json *j, const char *key, int64_t value);
void json_uint(struct json *j, const char *key, uint64_t value);
void json_double(struct json *j, const char *key, double value); /* not finite: null */
void json_bool(struct json *j, const char *key, bool value);
void json_nothing(struct json *j, const char *key);
void json_raw(struct json *j, const char *key, const char *value); /* JSON already */

#endif
