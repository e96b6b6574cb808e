/* SPDX-License-Identifier: Apache-2.0 */
/* Which programs a capture that was asked for by HTTP means. */
#ifndef DAEMON_JOB_CHOICE_H
#define DAEMON_JOB_CHOICE_H

struct diag;
struct job;
struct program;
struct programs;

/*
 * Before it begins: fills job->targets with those that its words mean and its caller may ask for; of one that waits for a program
 * notes which are there. 0, or a gRPC status with |d|.
 */
int job_choice_make(struct job *job, struct programs *programs, struct diag *d);

/* Looks for the program that the job waits for: 1, and it is the target; 0: it has not come. */
int job_choice_find_next(struct job *job, struct programs *programs);

#endif
