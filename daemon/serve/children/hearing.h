/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hearing a program that asks for a server (serve_request.h), and becoming that. In a process of its own with one thread, so that
 * neither a program's message nor its user's rights ever meet the host daemon. Believed is what the kernel says: who asks is the
 * socket's peer, the program is its parent, and the server gets the user, group and groups that the program has, and no capability.
 */
#ifndef DAEMON_HEARING_H
#define DAEMON_HEARING_H

/*
 * Serves who asks on the connection |from|: execs this program as its server, which answers. Returns when that fails: the negative errno
 * that was answered.
 */
int hearing_hold(int from);

#endif
