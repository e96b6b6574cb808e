/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides how long the data that a dead program's flight recorder or session left is held: five
 * minutes, but only while the private socket exists, and until programs that died later need the
 * room. The data is not held if the program exited with status 0 or executed another program.
 *
 * Each hold has a mark, the file PID.held beside the private socket, which contains the program's
 * name. Without a limit, a program that crashes and is restarted ten times a second would have
 * thousands of servers that hold data. So a server that makes a mark also removes the oldest ones,
 * among those with its program's name and among all. A server whose mark is gone gives its data up.
 *
 * Threads: one; any number of servers at once.
 */
#ifndef DAEMON_HOLD_H
#define DAEMON_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/kernel/socket_file.h"

#define HOLD_MARK_MAX_OF_NAME 4u
#define HOLD_MARK_MAX 16u

struct target;

struct hold_mark {
	struct socket_file file;
};

struct hold {
	const struct target *target; /* borrowed */
	const struct socket_file *way; /* the private socket; borrowed; NULL: none */
	struct hold_mark mark;
	bool is_owed; /* the run could not be written, so exit status 0 does not end the hold */
	bool was_another; /* target_has_become_another() at the last check */
	int64_t interval_ns; /* to the next check */
	int64_t until_ns; /* CLOCK_MONOTONIC */
};

/*
 * Begins a hold at |now_ns| (CLOCK_MONOTONIC, as below), and makes its mark. If the mark cannot be
 * made, other servers do not end this hold.
 */
void hold_init(struct hold *h, const struct target *t, const struct socket_file *way, bool is_owed,
	int64_t now_ns);
/* Removes the mark. A second call does nothing. */
void hold_deinit(struct hold *h);
/* Checks the hold at |now_ns|. Returns true if it is over. */
bool hold_is_over(struct hold *h, int64_t now_ns);
/*
 * Returns the time of the next check. The intervals grow to some 0.6 s, because it is known soon
 * how the program has ended.
 */
int64_t hold_get_due(struct hold *h, int64_t now_ns);

/*
 * Makes a mark beside |way|, "/path/PID.sock", for the program |name|, and removes older ones. On
 * failure no mark is made.
 */
void hold_mark_make(struct hold_mark *m, const struct socket_file *way, const char *name);
/* Returns true if a later hold has removed the mark. */
bool hold_mark_is_gone(const struct hold_mark *m);
/* A second call does nothing. */
void hold_mark_remove(struct hold_mark *m);

#endif
