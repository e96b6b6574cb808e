/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the programs that a capture by HTTP selects. */
#ifndef DAEMON_JOB_CHOICE_H
#define DAEMON_JOB_CHOICE_H

#include <stdbool.h>

struct diag;
struct job;
struct programs;

/*
 * Fills job->targets, before the job begins, with the programs that the words of the request select
 * and that its caller may ask for. Notes in job->newest which programs exist already,
 * for a job that waits for a new one. 0, or a gRPC status with |d|.
 */
int job_choice_make(struct job *job, struct programs *programs, struct diag *d);

/*
 * Looks for the program that the job waits for. Returns true, and the program is the job's target;
 * or false if it has not come yet.
 */
bool job_choice_find_next(struct job *job, struct programs *programs);

#endif
