/* SPDX-License-Identifier: Apache-2.0 */
/* A round of checks, and what is to be said of it. */
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
	struct finding *findings; /* of each check */
};

/* Makes all checks: of system->patient, or if there is none, of the machine. 0 or -ENOMEM; deinit in any case. */
int doctor_examine(struct doctor *d, const struct system *system);
void doctor_deinit(struct doctor *d);

/* Whether nothing is missing that a recording needs. */
bool doctor_is_ready(const struct doctor *d);
size_t doctor_count(const struct doctor *d, enum finding_state state);

/* In columns for people; |width| 0 is 80. */
void doctor_write_text(const struct doctor *d, FILE *out, size_t width, bool has_color);
/* One object on a line, as proftap-doctor(1) says. */
void doctor_write_json(const struct doctor *d, FILE *out);

#endif
