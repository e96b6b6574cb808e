/* SPDX-License-Identifier: Apache-2.0 */
/* The work of a capture that was asked for by HTTP: waits for its program, records, writes the run. */
#ifndef DAEMON_JOB_WORK_H
#define DAEMON_JOB_WORK_H

struct job;

/* Starts its thread, which calls jobs_leave() at its end. 0 or a negative errno. Under the mutex of the jobs. */
int job_work_start(struct job *job);

#endif
