/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes one JSON object to a stream, on one line, member by member. |key| is NULL for an element
 * of a list, and for the outermost object.
 */
#ifndef TRACE_JSON_H
#define TRACE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;
	bool has_members; /* the innermost object or list has members: the next one needs a comma */
};

void json_begin(struct json *j, FILE *out);
void json_end(struct json *j); /* writes a line break, too */

void json_begin_object(struct json *j, const char *key);
void json_end_object(struct json *j);
void json_begin_list(struct json *j, const char *key);
void json_end_list(struct json *j);

/*
 * NULL becomes null. Characters that are unsafe on a terminal are escaped; a byte that belongs to
 * no character becomes '?'.
 */
void json_text(struct json *j, const char *key, const char *value);
/* Like json_text(), but "" becomes null, too, since it stands for an unknown text. */
void json_known_text(struct json *j, const char *key, const char *value);
void json_texts(struct json *j, const char *key, char *const *values, uint32_t n);
void json_int(struct json *j, const char *key, int64_t value);
void json_uint(struct json *j, const char *key, uint64_t value);
void json_double(struct json *j, const char *key, double value); /* null if it is not finite */
void json_bool(struct json *j, const char *key, bool value);
void json_nothing(struct json *j, const char *key);
void json_raw(struct json *j, const char *key, const char *value); /* |value| is JSON */

#endif
