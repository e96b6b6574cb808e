/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs as JSON (docs/http-api.md, "Runs"), as a caller may see them.
 *
 * Threads: any.
 */
#ifndef DAEMON_RUN_JSON_H
#define DAEMON_RUN_JSON_H

struct caller;
struct diag;
struct json;
struct runs;

/* Of the youngest. */
#define RUN_JSON_LISTED 1000u

/* The members of the list, and of one: 0, or a gRPC status with |d|. */
int run_json_write_all(struct runs *r, const struct caller *caller, struct json *j, struct diag *d);
int run_json_write(struct runs *r, const struct caller *caller, const char *name, struct json *j,
	struct diag *d);

/* It was written, or is known better: whoever listens is told. */
void run_json_tell(struct runs *r, const char *name);

#endif
