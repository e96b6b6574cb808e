/* SPDX-License-Identifier: Apache-2.0 */
/* The user of a process, who may, besides root, see its recordings. */
#ifndef DAEMON_OWNER_H
#define DAEMON_OWNER_H

#include <sys/types.h>

/*
 * Finds the uid of the process |pid| now, if its real, effective and saved uid are the same. A
 * process between two users (set-uid, seteuid) belongs to root: 0. |root| stands for "/". -ENOENT
 * when it is gone or there is no /proc; then *uid is unchanged.
 */
int owner_find_uid(const char *root, pid_t pid, uid_t *uid);

/*
 * The same with an open status file: the pid cannot have been reused, and no memory is needed.
 * Negative errno when the process is gone, or |fd| is a negative errno.
 */
int owner_read_uid(int fd, uid_t *uid);
/* Opens the status file. Owner: the caller (close()). Or returns a negative errno. */
int owner_open(const char *root, pid_t pid);

#endif
