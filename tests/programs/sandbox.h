/* SPDX-License-Identifier: Apache-2.0 */
/* Commands by which a target confines itself. */
#ifndef TESTS_PROGRAMS_SANDBOX_H
#define TESTS_PROGRAMS_SANDBOX_H

/*
 * errno|thread|process CALL...: forbids this process these system calls (rows in sandbox.c); a call
 * then fails with an error, or kills the thread or the process. subreaper: the process adopts its
 * orphans. undumpable: /proc shows less of the process. Answers 0 or -1.
 */
void sandbox(char *arguments);

/* UID: sets the real, effective and saved user id to UID. Answers 0 or -1. */
void sandbox_change_user(char *arguments);

#endif
