/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine for proftap doctor: files below fake_root, and answers of the kernel, of programs and
 * of libraries as a test says.
 */
#ifndef TESTS_UNIT_DOCTOR_FIXTURE_H
#define TESTS_UNIT_DOCTOR_FIXTURE_H

#include "client/doctor/attempt.h"
#include "client/doctor/doctor_target.h"
#include "client/doctor/finding.h"
#include "client/doctor/library.h"
#include "client/doctor/system.h"

struct doctor_answer {
	int code;
	const char *text;
};

/* Its user is 1000, unless a test says so. No target. */
extern struct system doctor_system;
extern int doctor_attempts[N_ATTEMPTS]; /* 0, or a negative errno */
extern struct doctor_answer doctor_print; /* of any program */
extern struct doctor_answer
	doctor_libraries[N_LIBRARIES]; /* by enum asked_library; -ENOENT at first */
extern struct doctor_answer doctor_port; /* of any port */
extern struct doctor_target doctor_patient;
/* How it was asked last. */
extern char doctor_program[512]; /* words of the program, with blanks between them */
extern char doctor_library_path[512];
extern unsigned doctor_port_number;
extern unsigned doctor_only_port; /* on all others nobody is; 0: no such port */

/* A checked fixture of a test case: all as above, and an empty root. */
void doctor_fixture_make(void);
void doctor_fixture_remove(void);

/* Makes the check |key|. The finding lives until the next one. */
const struct finding *doctor_ask(const char *key);

/* The finding's text holds |text|. */
void doctor_expect_yes(const char *key, const char *text);
void doctor_expect_none(const char *key, const char *text);
/* And the command is |command|, or if that is NULL, there is none, and a reason. */
void doctor_expect_no(const char *key, const char *text, const char *command);

#endif
