/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The captures that were asked for by HTTP, when the daemon is to end.
 *
 * Threads: any.
 */
#ifndef DAEMON_JOBS_END_H
#define DAEMON_JOBS_END_H

#include <stdint.h>

struct jobs;

/* Nobody begins one any more, and those that wait for a program give it up. */
void jobs_refuse(struct jobs *jobs);
/* How many are not over. */
unsigned jobs_count(struct jobs *jobs);
/* All that run are told to end, with their data. */
void jobs_stop_all(struct jobs *jobs);
/*
 * All that run are told to end, with their data, and awaited, |grace_ms| at most: how many are still there. Nobody begins one any
 * more.
 */
unsigned jobs_finish(struct jobs *jobs, int64_t grace_ms);

#endif
