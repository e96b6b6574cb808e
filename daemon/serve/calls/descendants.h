/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The direct and indirect child processes of a program that have servers of their own. They are
 * found by the sockets PID.sock in the runtime directories, if the kernel reports the process as a
 * descendant, and by the notices that they have sent to this server (registry.h).
 */
#ifndef DAEMON_DESCENDANTS_H
#define DAEMON_DESCENDANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define DESCENDANTS_MAX 64

struct registry;

struct descendant {
	/* Shown to people: |known_as|; if that is 0, the pid in the process's own namespace. */
	pid_t pid;
	pid_t known_as; /* the pid in our namespace; 0: it has none there */
	char address[160]; /* "unix:/path" */
	/*
	 * An earlier server of the process has ended: the process executed another program, or is
	 * about to end.
	 */
	bool is_again;
	/* Set by the caller: this server has ended by itself, and another one may follow. */
	bool has_ended;
};

struct descendants {
	struct descendant v[DESCENDANTS_MAX];
	size_t n;
	int n_left_out; /* number of processes for which there was no room */
	pid_t left_out[DESCENDANTS_MAX]; /* the latest of them */
};

/*
 * Adds the descendants of |ancestor| and those in |registry|, each once. A process whose server has
 * ended is added again if it still runs a program. |all| begins as zero.
 */
void descendants_find(struct descendants *all, pid_t ancestor, struct registry *registry);

#endif
