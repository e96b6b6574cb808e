/* SPDX-License-Identifier: Apache-2.0 */
/* The audit's line of a capture by HTTP (daemon/host/calls/audit.h). */
#ifndef DAEMON_JOB_AUDIT_H
#define DAEMON_JOB_AUDIT_H

#include <stdint.h>

struct job;

/* The thread's work, which began at |begun_ns| (CLOCK_MONOTONIC), is over. */
void job_audit_write(const struct job *job, int64_t begun_ns);

#endif
