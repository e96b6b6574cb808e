/* SPDX-License-Identifier: Apache-2.0 */
/* One JSON object on a stream, member by member. */
#ifndef CLIENT_JSON_H
#define CLIENT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;
	bool has_members;
};

void json_begin(struct json *j, FILE *out);
void json_text(struct json *j, const char *key, const char *value); /* NULL: null */
void json_number(struct json *j, const char *key, int64_t value);
void json_bool(struct json *j, const char *key, bool value);
void json_texts(struct json *j, const char *key, char *const *values, uint32_t n);
/* A member that is a list of flat objects: begin, for each (begin, members, end), end. */
void json_begin_objects(struct json *j, const char *key);
void json_begin_object(struct json *j);
void json_end_object(struct json *j);
void json_end_objects(struct json *j);
void json_end(struct json *j); /* and a line break */

#endif
