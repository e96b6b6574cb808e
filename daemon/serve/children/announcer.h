/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This server's ties to host daemons: the machine's and its user's own, one for each runtime
 * directory in which there is one. It tells each of its program, answers questions about its state,
 * and serves the channels that are sent to it. A daemon that comes later, or again, is found by the
 * name of its socket: the directories are watched, and no daemon is polled.
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
	void (*describe)(struct status *status, void *context); /* fills in the state of now */
	void (*measure)(struct status *status, void *context); /* adds the share of memory */
	/* Takes |fd|, on which the daemon will speak HTTP/2. */
	void (*serve)(int fd, void *context);
	uid_t (*find_uid)(void *context); /* of the program, now */
	/* Whether the program ends: it needs no daemon then, and memory may be short. */
	int (*is_departing)(void *context);
	void *context;
};

struct announcer;

/* The tie to one place. */
struct tie {
	struct announcer *announcer;
	uv_poll_t poll; /* of the connection; initialised while fd >= 0 */
	uv_timer_t again;
	int fd; /* -1: none */
	bool is_closing; /* |poll| is libuv's still */
	unsigned n_tries; /* in a row */
	int64_t since_ns; /* of the connection, CLOCK_MONOTONIC */
	char dir[RUNTIME_DIR_MAX_BYTES]; /* "": there is no such place */
	int watch; /* inotify's, of |dir| or of the directory above it; -1: none */
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
 * Begins for the program |pid|. A failure is logged and is no error, because a server works without
 * a daemon. |a| must not move until the loop has ended.
 */
void announcer_open(
	struct announcer *a, uv_loop_t *loop, pid_t pid, const struct announcer_policy *policy);

/*
 * Ends all ties. A second call does nothing, nor does one for a zeroed announcer that was never
 * opened.
 */
void announcer_close(struct announcer *a);

#endif
