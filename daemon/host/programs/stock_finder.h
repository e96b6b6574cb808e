/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds profiler servers of JAX and TensorFlow (base/stock_servers.h) and adds them to the
 * programs. Each new listening socket is examined on a thread of libuv's, and again if its program
 * did not answer. Otherwise each call costs one query to the kernel.
 */
#ifndef DAEMON_STOCK_FINDER_H
#define DAEMON_STOCK_FINDER_H

#include <stdbool.h>

#include <uv.h>

#include "base/stock_servers.h"

struct programs;
struct starter;

/* A listening socket that has been examined. */
struct seen_socket {
	uint64_t inode;
	uint64_t id; /* of the program; 0: the socket is no profiler server's */
	int n_silent; /* number of questions without an answer */
	pid_t silent_pid; /* the process that did not answer */
};

struct stock_finder {
	uv_loop_t *loop;
	struct programs *programs;
	struct starter *starter; /* borrowed; examines sockets of other users */
	struct seen_socket *seen;
	size_t n_seen;
	size_t n_allocated;
	struct stock_servers fresh; /* owned; empty unless |is_searching| */
	bool is_searching;
	uv_work_t work;
};

/*
 * Looks for servers again, or, if |is_wanted| is false, forgets those that were found. At first |s|
 * must be zero except for the loop, the programs and the starter. The loop's thread only.
 */
void stock_finder_search(struct stock_finder *s, bool is_wanted);
/* Call it after the loop has ended. */
void stock_finder_deinit(struct stock_finder *s);

#endif
