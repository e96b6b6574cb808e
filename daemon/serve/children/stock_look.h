/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking for profiler servers of another make (base/stock_servers.h) among the processes of other
 * users, for a host daemon that is not root: only a process of the same user may see the sockets
 * and mappings of another one. So the starter, which may become other users, has one process of
 * each user look.
 */
#ifndef DAEMON_STOCK_LOOK_H
#define DAEMON_STOCK_LOOK_H

#include <stddef.h>

struct starter;
struct stock_servers;

/* Users in one message. */
#define STOCK_LOOK_MAX_USERS 64
/*
 * The first byte of the message to the starter; the uids follow, uint32_t each. The end of a pipe
 * for the answer comes with the message.
 */
#define STOCK_LOOK_WORD 'L'
#define STOCK_LOOK_MAX_BYTES (1 + STOCK_LOOK_MAX_USERS * 4)

/*
 * The daemon's side: does for the sockets in |s| of other users what stock_servers_identify() and
 * stock_servers_ask() do for one's own. It may wait for some seconds, so it is for a thread that
 * may wait. Where the starter cannot become other users, these sockets stay as they are.
 */
void stock_look_ask(struct starter *starter, struct stock_servers *s);

/*
 * The starter's side, in a process of its own: looks as each of the users of a message of |n|
 * bytes, but never as root, and writes the servers to |out|.
 */
void stock_look_serve(const char *message, size_t n, int out);

#endif
