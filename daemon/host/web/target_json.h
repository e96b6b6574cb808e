/* SPDX-License-Identifier: Apache-2.0 */
/* A program as JSON (docs/http-api.md, "Targets"). */
#ifndef DAEMON_TARGET_JSON_H
#define DAEMON_TARGET_JSON_H

#include <sys/types.h>

struct json;
struct program;

/* Writes the members of |p|. Reads some files of /proc. */
void target_json_write(struct json *j, const struct program *p);
/* Formats |p| as the data of a server-sent event: malloc'ed; NULL when memory ran out. */
char *target_json_format(const struct program *p);

/* Writes "uid" and "user". A user without a name has the number as its name. */
void user_json_write(struct json *j, uid_t uid);

#endif
