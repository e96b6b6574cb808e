/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is at the other end of a loopback connection in another network namespace, where sock_diag (peer.h) cannot ask: a connection
 * of ours with the same numbers would be taken for it. The kernel shows the connections of a process's namespace in /proc/PID/net.
 */
#ifndef DAEMON_PEER_TABLE_H
#define DAEMON_PEER_TABLE_H

#include <sys/types.h>

/* As peer_find_uid(), in the namespace of the process |pid|. |root| is "" or a test's fake root. */
int peer_table_find_uid(const char *root, pid_t pid, int fd, uid_t *uid);

/* Whether the socket |fd| is of this process's namespace; -ENODATA: the kernel does not tell (before Linux 5.14). */
int peer_table_is_own_space(int fd);

#endif
