/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mark of a hold: the file PID.held beside the private socket, with the program's name in it. A program that crashes and is
 * started again, ten times a second, would have thousands of servers hold what it left: whoever makes a mark removes the oldest
 * ones, of programs of that name and of all, and who finds his own gone gives up what he holds.
 *
 * Threads: one, and any number of servers at once.
 */
#ifndef DAEMON_HOLD_MARK_H
#define DAEMON_HOLD_MARK_H

#include "daemon/kernel/socket_file.h"

#define HOLD_MARK_MAX_OF_NAME 4u
#define HOLD_MARK_MAX 16u

struct hold_mark {
	struct socket_file file;
};

/*
 * Beside |way|, "/path/PID.sock", for the program called |name|. Where it cannot be made there is none, and nobody asks for
 * this hold's end.
 */
void hold_mark_make(struct hold_mark *m, const struct socket_file *way, const char *name);
/* Whether a later hold wants its place. */
int hold_mark_is_gone(const struct hold_mark *m);
/* Again: nothing. */
void hold_mark_remove(struct hold_mark *m);

#endif
