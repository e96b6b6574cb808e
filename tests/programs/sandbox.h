/* SPDX-License-Identifier: Apache-2.0 */
/* A target that confines itself. */
#ifndef TESTS_PROGRAMS_SANDBOX_H
#define TESTS_PROGRAMS_SANDBOX_H

/*
 * errno|thread|process CALL...: forbids this process these system calls (rows in sandbox.c), by an
 * error or by death. subreaper: it adopts its orphans. undumpable: /proc shows less of it. Says 0
 * or -1.
 */
void sandbox(char *arguments);

/* UID: its real, effective and saved one. As above. */
void sandbox_change_user(char *arguments);

#endif
