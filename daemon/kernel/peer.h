/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the user at the other end of a loopback connection. */
#ifndef DAEMON_PEER_H
#define DAEMON_PEER_H

#include <sys/types.h>

/* Answers besides a negative errno. */
enum peer_answer {
	PEER_KNOWN = 0, /* *uid is the user who made the peer's socket */
	PEER_REMOTE = 1, /* the peer is not in this network namespace */
	PEER_GONE = 2, /* it has closed the socket: its uid cannot be trusted */
};

/* The reason of a refusal, for a negative answer. Its argument is the error's words. */
#define PEER_UNKNOWN_FORMAT                                                                     \
	"refused a connection: neither sock_diag nor /proc/net/tcp tells whose it is: %s; run " \
	"modprobe tcp_diag, or mount /proc"

/*
 * Asks the kernel about the connected TCP socket |fd|, by NETLINK_SOCK_DIAG or, if that does not
 * know the connection, by /proc/self/net.
 */
int peer_find_uid(int fd, uid_t *uid);

/*
 * The same for a connection in another network namespace, that of the process |pid|, from
 * /proc/PID/net. sock_diag cannot ask there: it would find a connection of our own namespace with
 * the same numbers. |root| is "" or a test's fake root.
 */
int peer_table_find_uid(const char *root, pid_t pid, int fd, uid_t *uid);

/*
 * Returns 1 if the socket |fd| belongs to this process's network namespace, else 0; -ENODATA: the
 * kernel cannot report it (before Linux 5.14).
 */
int peer_table_compare_space(int fd);

#endif
