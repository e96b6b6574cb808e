/* SPDX-License-Identifier: Apache-2.0 */
/* Whom a process is: its user, its group, and the groups beside that. */
#ifndef DAEMON_IDENTITY_H
#define DAEMON_IDENTITY_H

#include <stddef.h>
#include <sys/types.h>

#define IDENTITY_MAX_GROUPS 256

struct identity {
	uid_t uid;
	gid_t gid;
	size_t n_groups;
	gid_t groups[IDENTITY_MAX_GROUPS];
};

/*
 * That of the process |pid|. 0; -EXDEV: it is between two users or groups (set-uid, seteuid); -E2BIG: it has more groups; -ENOENT, or
 * another negative errno: it is gone, or /proc does not show it. |root| is "" or a test's fake root.
 */
int identity_find(const char *root, pid_t pid, struct identity *out);

/*
 * This process becomes that, with no capability, and can never again gain a right. 0, or a negative errno: then it is not to go on.
 * -EPERM: it may not. One that has no rights stays who it is, if that is the same user, with its own groups. For a process with one thread.
 */
int identity_assume(const struct identity *identity);

/* Gives up all capabilities of a process that is not root. Of the calling thread, and of those that it starts. 0, or a negative errno. */
int identity_drop_capabilities(void);

#endif
