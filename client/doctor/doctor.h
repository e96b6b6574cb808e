/* SPDX-License-Identifier: Apache-2.0 */
/* A run of all checks of the machine or of a target, and its report. */
#ifndef CLIENT_DOCTOR_H
#define CLIENT_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "client/doctor/finding.h"

struct check;
struct system;

struct doctor {
	const struct system *system;
	const struct check *checks;
	size_t n;
	struct finding *findings; /* one for each check */
};

/*
 * Runs all checks of system->target, or of the machine if that is NULL. 0 or -ENOMEM. Call
 * doctor_deinit() in either case.
 */
int doctor_examine(struct doctor *d, const struct system *system);
void doctor_deinit(struct doctor *d);

/* Returns true if no needed check has the finding "no". */
bool doctor_is_ready(const struct doctor *d);
size_t doctor_count(const struct doctor *d, enum finding_state state);

/* Writes columns of text. |width| 0 means 80. */
void doctor_write_text(const struct doctor *d, FILE *out, size_t width, bool has_color);
/* Writes one JSON object on a line; proftap-doctor(1) describes it. */
void doctor_write_json(const struct doctor *d, FILE *out);

#endif
