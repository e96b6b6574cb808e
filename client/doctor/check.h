/* SPDX-License-Identifier: Apache-2.0 */
/* A check of the machine or of a target: a row of a table in checks.c. */
#ifndef CLIENT_CHECK_H
#define CLIENT_CHECK_H

#include <stdbool.h>
#include <stddef.h>

struct finding;
struct system;

struct check {
	const char *key; /* the name in JSON and in the manual */
	const char *group; /* the heading; rows of a group are adjacent */
	const char *name; /* the name in the text output */
	bool is_needed; /* without it proftap cannot record; otherwise "no" is only a limitation */
	void (*run)(const struct system *sys, const struct check *self, struct finding *f);
	const char *about; /* the object of the check if several rows share |run|; else NULL */
};

/* The checks of the machine. */
extern const struct check checks[];
extern const size_t n_checks;

/* The checks of the target system->target. */
extern const struct check target_checks[];
extern const size_t n_target_checks;

#endif
