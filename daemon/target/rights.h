/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out whether this server may act in the program's name: it was started with the program's
 * rights, and the program may have given up some of them since.
 */
#ifndef DAEMON_RIGHTS_H
#define DAEMON_RIGHTS_H

#include <sys/types.h>

struct diag;

/*
 * 0 when the process |pid| has every right over files that this one has, and sees the same files;
 * else -EACCES with |d|. |root| is "" or a test's fake root, whose /proc/self is this process.
 */
int rights_check(const char *root, pid_t pid, struct diag *d);

/*
 * The same for a program that did not start this server: nothing guarantees that they ever had the
 * same rights, so a root or namespace that cannot be read counts as different.
 */
int rights_compare(const char *root, pid_t pid, struct diag *d);

/* Why the server does not use paths of a program for which rights_compare() failed at the start. */
extern const char rights_foreign_text[];

#endif
