/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks out for profiler servers of JAX's and TensorFlow's make (base/stock_servers.h) and keeps
 * them among the programs. Each new listening socket is looked at once, on a thread of libuv's;
 * where there is no new one, a look costs a question to the kernel.
 */
#ifndef DAEMON_STOCK_FINDER_H
#define DAEMON_STOCK_FINDER_H

#include <uv.h>

#include "base/stock_servers.h"

struct programs;
struct starter;

/* A listening socket that has been looked at. */
struct seen_socket {
	uint64_t inode;
	uint64_t id; /* of the program; 0: it is no profiler server's */
	int n_silent; /* how often it was asked and did not answer */
	pid_t silent_pid; /* the process that did not answer */
};

struct stock_finder {
	uv_loop_t *loop;
	struct programs *programs;
	struct starter *starter; /* borrowed: has those of other users looked at */
	struct seen_socket *seen;
	size_t n_seen;
	size_t n_allocated;
	struct stock_servers fresh; /* owned; empty unless |is_looking| */
	int is_looking;
	uv_work_t work;
};

/*
 * Looks once more for servers, or without |is_wanted| forgets those that were found. At first |s|
 * is all zero but for the loop and the programs. Only the loop's thread may use it.
 */
void stock_finder_look(struct stock_finder *s, int is_wanted);
/* When the loop has ended. */
void stock_finder_deinit(struct stock_finder *s);

#endif
