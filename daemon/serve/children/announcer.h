/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This server's ties (connections) to host daemons: that of the machine and that of the user, at
 * most one for each runtime directory. Over each tie the server describes its program, answers
 * questions about its state, and serves the channels that it receives. The directories are watched
 * for the daemons' sockets, so a daemon that starts later or again is found without polling.
 *
 * Threads: the loop's only.
 */
#ifndef DAEMON_ANNOUNCER_H
#define DAEMON_ANNOUNCER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#include "base/runtime_dir.h"

struct status;

struct announcer_policy {
	void (*describe)(struct status *status, void *context); /* fills in the present state */
	void (*measure)(struct status *status, void *context); /* sets |pss_bytes|, memory */
	/* Takes |fd|, on which the daemon will speak HTTP/2. */
	void (*serve)(int fd, void *context);
	uid_t (*find_uid)(void *context); /* the present user of the program */
	/*
	 * Returns true if the program is ending: it needs no daemon then, and memory may be short.
	 */
	bool (*is_departing)(void *context);
	void *context;
};

struct announcer;

/* The tie to the daemon of one runtime directory. */
struct tie {
	struct announcer *announcer;
	uv_poll_t poll; /* of the connection; initialised while fd >= 0 */
	uv_timer_t again;
	int fd; /* -1: none */
	bool is_closing; /* libuv still uses |poll| */
	unsigned n_tries; /* failed attempts since the last success */
	int64_t since_ns; /* CLOCK_MONOTONIC, the time of the connection */
	char dir[RUNTIME_DIR_MAX_BYTES]; /* "": there is no such directory */
	int watch; /* inotify's watch of |dir| or its parent; -1: none */
};

struct announcer {
	uv_loop_t *loop;
	struct announcer_policy policy;
	pid_t pid; /* of the program */
	int names_fd; /* inotify; -1: none */
	bool is_over;
	uv_poll_t names;
	struct tie ties[RUNTIME_DIR_PLACES];
};

/*
 * Starts the ties for the program |pid|. A failure is logged and is no error, because a server
 * works without a daemon. |a| must not move until the loop has ended.
 */
void announcer_open(
	struct announcer *a, uv_loop_t *loop, pid_t pid, const struct announcer_policy *policy);

/*
 * Ends all ties. Does nothing for an announcer that is closed already, or is zero and was never
 * opened.
 */
void announcer_close(struct announcer *a);

#endif
