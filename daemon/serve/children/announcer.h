/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This server's ties to host daemons: the machine's and its user's own, one for each runtime
 * directory in which there is one. It tells each of its program, answers what it is doing, and
 * serves the channels that are sent to it. A daemon that comes later, or again, is found by the
 * name of its socket: the directories are watched, and nobody is asked again and again.
 *
 * Threads: the loop's only.
 */
#ifndef DAEMON_ANNOUNCER_H
#define DAEMON_ANNOUNCER_H

#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#include "base/runtime_dir.h"

struct status;

struct announcer_policy {
	void (*describe)(struct status *status, void *context); /* fills in what is true now */
	void (*measure)(struct status *status, void *context); /* adds the share of memory */
	void (*serve)(
		int fd, void *context); /* takes |fd|, on which the daemon will speak HTTP/2 */
	uid_t (*find_uid)(void *context); /* of the program, now */
	int (*is_departing)(
		void *context); /* the program: it needs no daemon, and memory may be short */
	void *context;
};

struct announcer;

/* The tie to one place. */
struct tie {
	struct announcer *announcer;
	uv_poll_t poll; /* of the connection; initialised while fd >= 0 */
	uv_timer_t again;
	int fd; /* -1: none */
	int is_closing; /* |poll| is libuv's still */
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
	int is_over;
	uv_poll_t names;
	struct tie ties[RUNTIME_DIR_PLACES];
};

/*
 * Begins for the program |pid|. What cannot be had is said in the log, and is no error: a server
 * works without. |a| stays where it is until the loop has ended.
 */
void announcer_open(
	struct announcer *a, uv_loop_t *loop, pid_t pid, const struct announcer_policy *policy);

/* No daemon knows of it any more. Again, or of a zeroed one that was never opened: nothing. */
void announcer_close(struct announcer *a);

#endif
