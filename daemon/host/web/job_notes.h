/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes of a capture's thread, for callers that look at it and for streams of events. Each function
 * takes the mutex of the jobs.
 */
#ifndef DAEMON_JOB_NOTES_H
#define DAEMON_JOB_NOTES_H

#include "daemon/host/web/job.h"

struct ensemble;

/* Its recording has begun, now. */
void job_notes_begin(struct job *job);
/* How far each program is. What is new is told when it |is_due|, a new state in any case: 1 if it was. */
int job_notes_progress(struct job *job, const struct ensemble *e, int is_due);
void job_notes_state(struct job *job, enum job_state state);
/* Notes the outcome of each program's recording, after capture_group_end(). */
void job_notes_outcome(struct job *job, const struct ensemble *e);
/* It is over; |status| is gRPC's. A |format| of NULL: without an error. */
void job_notes_end(struct job *job, enum job_state state, int status, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
