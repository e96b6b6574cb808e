/* SPDX-License-Identifier: Apache-2.0 */
/* The identity of a process: its user, its group, and its supplementary groups. */
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
 * Finds the identity of the process |pid|. 0; -EXDEV: its real, effective and saved ids differ
 * (set-uid, seteuid); -E2BIG: it has too many groups; -ENOENT, or another negative errno: it is
 * gone, or /proc does not show it. |root| is "" or a test's fake root.
 */
int identity_find(const char *root, pid_t pid, struct identity *out);

/*
 * Gives this process the identity, without any capability, and keeps it from ever gaining rights.
 * 0, or a negative errno: then the process must not go on. -EPERM: this process has no right to
 * change its identity. If it is unprivileged, but has the same user already, that is no error: it
 * keeps its own groups. Only for a process with one thread.
 */
int identity_assume(const struct identity *identity);

/*
 * Drops all capabilities of the calling thread, even if its user is root, and of the threads that
 * it starts later. 0, or a negative errno.
 */
int identity_drop_capabilities(void);

/* The user of a process: only this user and root may see its recordings. */

/*
 * Finds the uid of the process |pid| now, if its real, effective and saved uid are the same. If
 * they differ (set-uid, seteuid), the process counts as root's: 0. |root| stands for "/". -ENOENT
 * when it is gone or there is no /proc; then *uid is unchanged.
 */
int owner_find_uid(const char *root, pid_t pid, uid_t *uid);

/*
 * Does the same with an open status file |fd|. Then the pid cannot have been reused, and reading
 * needs no memory. Negative errno when the process is gone, or |fd| is a negative errno.
 */
int owner_read_uid(int fd, uid_t *uid);
/* Returns a descriptor of the status file, owned by the caller (close()), or a negative errno. */
int owner_open(const char *root, pid_t pid);

#endif
