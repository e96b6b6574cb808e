/* SPDX-License-Identifier: Apache-2.0 */
/* The usage of the machine as JSON (docs/http-api.md, "Usage"). */
#ifndef DAEMON_USAGE_JSON_H
#define DAEMON_USAGE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/host/programs/caller.h"

struct diag;
struct json;
struct machine;

#define USAGE_JSON_GROUPS_BYTES 128

/* The columns that a caller wants. */
struct usage_json_choice {
	struct caller caller; /* sees what caller_may_ask() permits */
	/* Comma list such as "cpu,memory"; "": all groups but those of cores and programs. */
	char groups[USAGE_JSON_GROUPS_BYTES];
	pid_t pid; /* adds the columns of this program; 0: none */
};

/* 0, or -EINVAL with |d| if there is no such group. |text| NULL: the default. */
int usage_json_set_groups(struct usage_json_choice *c, const char *text, struct diag *d);

/* Returns true if there are samples of a program with the choice's pid that its caller may see. */
bool usage_json_has_pid(const struct usage_json_choice *c, struct machine *m);

/* Writes the members of an answer with the samples after the sample |since|; -1: all of them. */
void usage_json_write(
	struct json *j, struct machine *m, const struct usage_json_choice *choice, int64_t since);

/*
 * Writes the members of an event: the sample |n|, and descriptions of the columns that came after
 * the sample |*described|, which it advances; -1: all columns. Returns false if the sample is not
 * kept any more.
 */
bool usage_json_write_sample(struct json *j, struct machine *m,
	const struct usage_json_choice *choice, uint64_t n, int64_t *described);

#endif
