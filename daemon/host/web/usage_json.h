/* SPDX-License-Identifier: Apache-2.0 */
/* The use of the machine, as JSON (docs/http-api.md, "Usage"). */
#ifndef DAEMON_USAGE_JSON_H
#define DAEMON_USAGE_JSON_H

#include <stdint.h>
#include <sys/types.h>

#include "daemon/host/programs/caller.h"

struct diag;
struct json;
struct machine;

#define USAGE_JSON_GROUPS_BYTES 128

/* Which columns. */
struct usage_json_choice {
	struct caller caller; /* who must not be told of others' programs */
	char groups
		[USAGE_JSON_GROUPS_BYTES]; /* "cpu,memory"; "": all but each core and each program */
	pid_t pid; /* of a program whose columns are wanted as well; 0: none */
};

/* 0, or -EINVAL with |d|: no such group. |text| NULL: the default. */
int usage_json_set_groups(struct usage_json_choice *c, const char *text, struct diag *d);

/* Whether there are samples of a program with the choice's pid that its caller may see. */
int usage_json_has_pid(const struct usage_json_choice *c, struct machine *m);

/* The members of an answer: samples behind |since|; -1: all that there are. */
void usage_json_write(
	struct json *j, struct machine *m, const struct usage_json_choice *choice, int64_t since);

/*
 * The members of an event: the sample |n|, and descriptions of the columns that came behind the sample |*described|; -1: all.
 * 0: it is not kept any more.
 */
int usage_json_write_sample(struct json *j, struct machine *m,
	const struct usage_json_choice *choice, uint64_t n, int64_t *described);

#endif
