/* SPDX-License-Identifier: Apache-2.0 */
/* The audit's line of a capture by HTTP; see job_audit.h. */
#include "daemon/host/web/job_audit.h"

#include <pthread.h>
#include <stdio.h>

#include "daemon/host/calls/audit.h"
#include "daemon/host/programs/programs.h"
#include "daemon/host/web/job.h"
#include "daemon/host/web/jobs.h"
#include "rpc/server.h"

static void add_targets(struct audit *a, const struct job *job)
{
	for (size_t i = 0; i < job->n_targets; i++) {
		struct program program = {.pid = job->targets[i].pid};

		snprintf(program.status.name, sizeof program.status.name, "%s",
			job->targets[i].name);
		audit_add_target(a, &program);
		a->n_bytes += job->targets[i].trace_bytes;
	}
}

static void write_options(char *out, size_t size, const struct web_capture *q)
{
	if (q->is_snapshot)
		snprintf(out, size, "snapshot=%s last_ms=%llu end=%s", q->session,
			(unsigned long long)q->last_ms, q->ends ? "true" : "false");
	else
		snprintf(out, size, "duration_ms=%llu%s%s", (unsigned long long)q->duration_ms,
			web_capture_has_options(q) ? " " : "",
			web_capture_has_options(q) ? q->options_text : "");
}

void job_audit_write(const struct job *job, int64_t begun_ns)
{
	struct audit a = {.what = "WebCapture",
		.caller = job->caller,
		.is_caller_known = 1,
		.begun_ns = begun_ns};

	pthread_mutex_lock(&job->jobs->mutex);
	add_targets(&a, job);
	a.result = rpc_status_name(job->status);
	a.reason = job->error;
	write_options(a.options, sizeof a.options, &job->request);
	audit_write(&a);
	pthread_mutex_unlock(&job->jobs->mutex);
}
