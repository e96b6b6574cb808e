/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of a process in another pid namespace, by their ids there. /proc shows such ids for
 * one thread at a time, so the list is read seldom: an ended thread may seem alive for a while, but
 * a living one never seems ended.
 */
#ifndef DAEMON_INNER_THREADS_H
#define DAEMON_INNER_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define INNER_THREADS_MAX_MISSED 1024 /* as many as there are rings */

/* A thread that a caller asked for, and that was not in the list, which was read earlier. */
struct missed_thread {
	pid_t tid;
	int64_t asked_ns;
};

struct inner_threads {
	pid_t *v; /* sorted */
	size_t n;
	size_t n_allocated;
	int64_t read_ns; /* CLOCK_MONOTONIC; 0: never */
	int64_t due_ns; /* the earliest time of the next reading */
	struct missed_thread *missed;
	size_t n_missed;
	size_t n_missed_allocated;
};

/*
 * Returns true if the thread |tid| of the process |pid| is alive, as far as is known at |now_ns|
 * (CLOCK_MONOTONIC). |root| is "" or a test's fake root. |t| is zero at first.
 */
bool inner_threads_have(
	struct inner_threads *t, const char *root, pid_t pid, pid_t tid, int64_t now_ns);

void inner_threads_free(struct inner_threads *t);

#endif
