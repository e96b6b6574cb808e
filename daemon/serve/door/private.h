/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's private sockets, for the target's user and root: PID.sock serves what the port serves, PID.status says
 * one text about the server and hangs up (base/status.h). They lie in the first usable runtime directory; a server
 * that finds none works all the same.
 *
 * Threads: the loop's only.
 */
#ifndef DAEMON_PRIVATE_H
#define DAEMON_PRIVATE_H

#include <sys/types.h>
#include <uv.h>

#include "base/runtime_dir.h"
#include "daemon/kernel/accept_pause.h"
#include "daemon/kernel/socket_file.h"
#include "daemon/serve/door/door.h"

struct status;

struct private_policy {
	int (*may_enter)(int fd, void *context); /* asked at accept(); 0: hung up on at once */
	void (*serve)(int fd, void *context); /* takes |fd|, which speaks HTTP/2 */
	void (*hear)(int fd, void *context); /* a notice lies in |fd| (borrowed), unread */
	void (*describe)(struct status *status, void *context); /* fills in what is true now */
	void *context;
};

struct private
{
	struct door door;
	uv_poll_t status;
	struct accept_pause rest; /* of the status socket */
	int status_fd; /* -1: closed */
	struct private_policy policy;
	struct socket_file door_file; /* a later server of the same pid (exec) may take the place */
	struct socket_file status_file;
};

/*
 * Opens both for the target |pid|; whatever lies there under that pid is from an earlier life. 0 or a negative errno,
 * then nothing is open. |p| stays where it is until the loop has ended.
 */
int private_open(
	struct private *p, uv_loop_t *loop, pid_t pid, const struct private_policy *policy);

/* Removes both. Again, or after a failed open: nothing. */
void private_close(struct private *p);

#endif
