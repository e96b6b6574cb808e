/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether this server may do in the program's name what the program asks for: it was started with the
 * program's rights, and the program may have given up some of them since.
 */
#ifndef DAEMON_RIGHTS_H
#define DAEMON_RIGHTS_H

#include <sys/types.h>

struct diag;

/*
 * 0 when the process |pid| has every right over files that this one has, and sees the same files; else -EACCES
 * with |d|. |root| is "" or a test's fake root, whose /proc/self is this process.
 */
int rights_check(const char *root, pid_t pid, struct diag *d);

/*
 * The same of a program that did not start this server, so that nothing says that they ever had the same: what cannot be looked
 * at is another.
 */
int rights_compare(const char *root, pid_t pid, struct diag *d);

/* Why files that a program names are not touched whose rights_compare() failed when its server started. */
extern const char rights_foreign_text[];

#endif
