/* SPDX-License-Identifier: Apache-2.0 */
/* One flat JSON object on a stream, member by member. */
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
void json_end(struct json *j); /* and a line break */

#endif
