/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds profiler servers of another make (base/stock_servers.h) among the processes of other users,
 * for a host daemon that does not run as root. Only a process of the same user may see the sockets
 * and mappings of a process, so the starter, which may become other users, starts one process for
 * each user.
 */
#ifndef DAEMON_STOCK_QUERY_H
#define DAEMON_STOCK_QUERY_H

#include <stddef.h>

struct starter;
struct stock_servers;

/* The limit of users in one message. */
#define STOCK_QUERY_MAX_USERS 64
/*
 * The first byte of the message to the starter; the uids follow, uint32_t each. A descriptor comes
 * with the message: the end of a pipe that the answer is written to.
 */
#define STOCK_QUERY_WORD 'L'
#define STOCK_QUERY_MAX_BYTES (1 + STOCK_QUERY_MAX_USERS * 4)

/*
 * The daemon's side. For the sockets of other users in |s|, it does what stock_servers_identify()
 * and stock_servers_ask() do for the process's own user. It may wait for some seconds, so call it
 * on a thread that may wait. If the starter cannot become other users, these sockets stay
 * unidentified.
 */
void stock_query_ask(struct starter *starter, struct stock_servers *s);

/*
 * The starter's side, in a process of its own. Reads a message of |n| bytes, looks for servers as
 * each of its users except root, and writes them to |out|.
 */
void stock_query_serve(const char *message, size_t n, int out);

#endif
