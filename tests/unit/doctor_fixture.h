/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine for proftap doctor: files below fake_root, and answers of the kernel, of programs and
 * of libraries that a test sets.
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

/* The machine: its user is 1000 unless a test changes that, and there is no target. */
extern struct system doctor_system;
extern int doctor_attempts[N_ATTEMPTS]; /* 0, or a negative errno */
extern struct doctor_answer doctor_print; /* of any program */
extern struct doctor_answer
	doctor_libraries[N_LIBRARIES]; /* by enum asked_library; initially -ENOENT */
extern struct doctor_answer doctor_port; /* of any port */
extern struct doctor_target doctor_subject;
/* The arguments of the last queries. */
extern char doctor_program[512]; /* words of the program's command line, separated by blanks */
extern char doctor_library_path[512];
extern unsigned doctor_port_number;
extern unsigned doctor_only_port; /* the only port that answers; 0: every port answers alike */

/* A checked fixture of a test case: sets all of the above, and an empty root. */
void doctor_fixture_make(void);
void doctor_fixture_remove(void);

/* Runs the check |key|. The finding is valid until the next run. */
const struct finding *doctor_ask(const char *key);

/*
 * Asserts that the check's result is yes (with doctor_expect_none() that it does not apply), and
 * that its text contains |text|.
 */
void doctor_expect_yes(const char *key, const char *text);
void doctor_expect_none(const char *key, const char *text);
/*
 * Asserts that the result is no, that its text contains |text|, and that its command is |command|.
 * If |command| is NULL, the finding must have a reason and no command.
 */
void doctor_expect_no(const char *key, const char *text, const char *command);

#endif
