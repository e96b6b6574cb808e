/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs that a program started, and those that they started, as far as they have servers of
 * their own. They are found in the runtime directories by their sockets, PID.sock, and known for
 * descendants by the kernel; and they have told this server of themselves (registry.h).
 */
#ifndef DAEMON_DESCENDANTS_H
#define DAEMON_DESCENDANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define DESCENDANTS_MAX 64

struct registry;

struct descendant {
	pid_t pid; /* for people: that of its own namespace, if it has none in ours */
	pid_t known_as; /* in our namespace; 0: it has none there */
	char address[160]; /* "unix:/path" */
	/* The process had a server before, which has ended: another program came, or it ends. */
	bool is_again;
	/* Set by the caller: this server has ended by itself, and may have a successor. */
	bool has_ended;
};

struct descendants {
	struct descendant v[DESCENDANTS_MAX];
	size_t n;
	int n_left_out; /* there was no room for them */
	pid_t left_out[DESCENDANTS_MAX]; /* the last of them */
};

/*
 * Adds those of |ancestor|, and those in |registry|, each once, except for one that has ended while
 * its process goes on. All zero is the state before.
 */
void descendants_find(struct descendants *all, pid_t ancestor, struct registry *registry);

#endif
