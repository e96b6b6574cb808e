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

/*
 * Asks the kernel about the connected TCP socket |fd|, by NETLINK_SOCK_DIAG or, if the kernel has
 * no module for that, by /proc/self/net.
 */
int peer_find_uid(int fd, uid_t *uid);

/*
 * Returns what helps after the negative answer |r| of peer_find_uid(), as the end of a sentence
 * such as "; run modprobe tcp_diag"; "": nothing is known to help.
 */
const char *peer_get_remedy(int r);

/*
 * Like peer_find_uid(), but for a connection in another network namespace, that of the process
 * |pid|, from /proc/PID/net. sock_diag cannot ask there: it would find a connection of our own
 * namespace with the same numbers. |root| is "" or a test's fake root.
 */
int peer_table_find_uid(const char *root, pid_t pid, int fd, uid_t *uid);

/*
 * Returns 1 if the socket |fd| belongs to this process's network namespace, else 0; -ENODATA: the
 * kernel cannot report it (before Linux 5.14).
 */
int peer_table_compare_space(int fd);

#endif
