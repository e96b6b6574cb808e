/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the facts of runs in the background: proftap reads one requested run at a time (tool.h),
 * the facts are kept (run_facts.h), and streams of events report them.
 *
 * Threads: run_reading_want() any; the others the loop's.
 */
#ifndef DAEMON_RUN_READING_H
#define DAEMON_RUN_READING_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "daemon/host/web/post.h"
#include "daemon/host/web/run_facts.h"

struct api;
struct tool;

#define RUN_READING_WAITING 256u

struct run_reading {
	struct api *api; /* NULL: closed */
	pthread_mutex_t mutex;
	struct run_state waiting[RUN_READING_WAITING]; /* under mutex, like the two below */
	size_t n_waiting;
	bool is_sent; /* the letter is on its way */
	struct letter letter;
	struct run_state present; /* the run that |tool| reads */
	struct tool *tool; /* NULL: no run is being read */
};

void run_reading_open(struct run_reading *r, struct api *api);
void run_reading_close(struct run_reading *r);

/* Queues a run for reading, unless too many wait already. */
void run_reading_want(struct run_reading *r, const struct run_state *state);

#endif
