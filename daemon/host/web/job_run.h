/* SPDX-License-Identifier: Apache-2.0 */
/* The run that a capture writes. */
#ifndef DAEMON_JOB_RUN_H
#define DAEMON_JOB_RUN_H

struct ensemble;
struct job;

/* Writes what was recorded, after capture_group_end(), and ends the job: done, empty or failed. */
void job_run_write(struct job *job, struct ensemble *e);

#endif
