/* SPDX-License-Identifier: Apache-2.0 */
/* Whose process it is: who, besides root, may see what it records. */
#ifndef DAEMON_OWNER_H
#define DAEMON_OWNER_H

#include <sys/types.h>

/*
 * The uid of the process |pid| as it is now: the one that is real, effective and saved uid at once. A process
 * between two users (set-uid, seteuid) belongs to root: 0. |root| stands for "/". -ENOENT when it is gone or
 * /proc is not there; then *uid is as it was.
 */
int owner_find_uid(const char *root, pid_t pid, uid_t *uid);

/*
 * The same of a process whose status is held open: it is never another one of that pid, and needs no memory. Negative errno
 * when it is gone, or |fd| is one.
 */
int owner_read_uid(int fd, uid_t *uid);
/* Owner: the caller (close()). Or a negative errno. */
int owner_open(const char *root, pid_t pid);

#endif
