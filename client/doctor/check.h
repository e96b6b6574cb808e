/* SPDX-License-Identifier: Apache-2.0 */
/* One question to a machine: a row of the table in checks.c. */
#ifndef CLIENT_CHECK_H
#define CLIENT_CHECK_H

#include <stdbool.h>
#include <stddef.h>

struct finding;
struct system;

struct check {
	const char *key; /* in JSON, and in the manual */
	const char *group; /* its heading; rows of a group stand together */
	const char *name; /* for people */
	bool is_needed; /* without it proftap does not record; else "no" is a limit */
	void (*run)(const struct system *sys, const struct check *self, struct finding *f);
	const char *about; /* what |run| looks at, where several rows share it; else NULL */
};

extern const struct check checks[];
extern const size_t n_checks;

#endif
