/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is in the runs that somebody looks at, found out in the background: one run at a time is read by proftap (tool.h), and kept
 * (run_facts.h); then whoever listens is told.
 *
 * Threads: run_reading_want() any; the others the loop's.
 */
#ifndef DAEMON_RUN_READING_H
#define DAEMON_RUN_READING_H

#include <pthread.h>
#include <stddef.h>

#include "daemon/host/web/post.h"
#include "daemon/host/web/run_facts.h"

struct api;
struct tool;

#define RUN_READING_WAITING 256u

struct run_reading {
	struct api *api; /* NULL: closed */
	pthread_mutex_t mutex;
	struct run_state waiting[RUN_READING_WAITING]; /* under mutex, as the two below */
	size_t n_waiting;
	int is_sent; /* the letter */
	struct letter letter;
	struct run_state present; /* that is read */
	struct tool *tool; /* NULL: none is */
};

void run_reading_open(struct run_reading *r, struct api *api);
void run_reading_close(struct run_reading *r);

/* Has it read, soon, unless there are too many before it. */
void run_reading_want(struct run_reading *r, const struct run_state *state);

#endif
