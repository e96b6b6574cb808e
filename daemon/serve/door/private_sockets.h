/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's private sockets, for the target's user and root: PID.sock serves the same calls as
 * the port; PID.status sends one text about the server and hangs up (base/status.h). They are in
 * the first usable runtime directory; without one the server works without them.
 *
 * Threads: the loop's only.
 */
#ifndef DAEMON_PRIVATE_SOCKETS_H
#define DAEMON_PRIVATE_SOCKETS_H

#include <stdbool.h>
#include <sys/types.h>
#include <uv.h>

#include "daemon/kernel/accept_pause.h"
#include "daemon/kernel/socket_file.h"
#include "daemon/serve/door/door.h"

struct status;

struct private_policy {
	bool (*may_enter)(int fd, void *context); /* called at accept(); if false, hangs up */
	void (*serve)(int fd, void *context); /* takes |fd|, which speaks HTTP/2 */
	/* |fd| (borrowed) has an unread notice of a child server */
	void (*on_notice)(int fd, void *context);
	void (*describe)(struct status *status, void *context); /* fills in the present state */
	void *context;
};

struct private_sockets {
	struct door door;
	uv_poll_t status;
	struct accept_pause pause; /* of the status socket */
	int status_fd; /* -1: closed */
	struct private_policy policy;
	/* Identify the files, because a later server of the same pid (exec) may replace them. */
	struct socket_file door_file;
	struct socket_file status_file;
};

/*
 * Opens both sockets for the target |pid|, and replaces files that an earlier process with this pid
 * left. 0, or a negative errno; then no socket is open. |p| must not move until the loop has ended.
 */
int private_sockets_open(
	struct private_sockets *p, uv_loop_t *loop, pid_t pid, const struct private_policy *policy);

/* Removes both sockets. Does nothing if they are not open. */
void private_sockets_close(struct private_sockets *p);

#endif
