/* SPDX-License-Identifier: Apache-2.0 */
/* Which captures that are asked for by HTTP may begin, and their beginning. */
#ifndef DAEMON_JOB_ADMISSION_H
#define DAEMON_JOB_ADMISSION_H

#include <stdint.h>

struct caller;
struct web_capture;
struct diag;
struct jobs;

/* At a time; and of one user that may not ask for all. */
#define JOBS_MAX_RUNNING 16u
#define JOBS_MAX_OF_USER 4u

/* Begins one: 0 and its id; or a gRPC status with |d|. Takes |request| in any case. Threads: any. */
int job_admission_begin(struct jobs *jobs, const struct caller *caller, struct web_capture *request,
	uint64_t *id, struct diag *d);

#endif
