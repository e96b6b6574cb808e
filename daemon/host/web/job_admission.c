/* SPDX-License-Identifier: Apache-2.0 */
/* Captures that begin; see job_admission.h. */
#include "daemon/host/web/job_admission.h"

#include <errno.h>

#include "base/diag.h"
#include "daemon/host/calls/host_calls.h"
#include "daemon/host/programs/caller.h"
#include "daemon/host/web/job.h"
#include "daemon/host/web/job_choice.h"
#include "daemon/host/web/job_work.h"
#include "daemon/host/web/jobs.h"
#include "daemon/host/web/runs.h"
#include "rpc/server.h"

/* 0 or a gRPC status with |d|. Under the mutex. */
static int check_room(const struct jobs *jobs, const struct caller *caller, struct diag *d)
{
	unsigned n = 0, n_of_user = 0;

	for (const struct job *j = jobs->first; j; j = j->next) {
		if (job_is_over(j))
			continue;
		n++;
		n_of_user += j->caller.uid == caller->uid;
	}
	if (jobs->is_ending) {
		diag_set(d, -ESHUTDOWN, "the host daemon is ending");
		return RPC_UNAVAILABLE;
	}
	if (n < JOBS_MAX_RUNNING && (caller->may_all || n_of_user < JOBS_MAX_OF_USER))
		return 0;
	diag_set(d, -EAGAIN,
		"there may be %u captures at a time, %u of one user; wait until one is over",
		JOBS_MAX_RUNNING, JOBS_MAX_OF_USER);
	return RPC_RESOURCE_EXHAUSTED;
}

/* Under the mutex, which the new thread waits for. */
static int add(struct jobs *jobs, struct job *job, struct diag *d)
{
	int r = check_room(jobs, &job->caller, d);

	if (r)
		return r;
	job->id = ++jobs->last_id;
	job->jobs = jobs;
	if (job_work_start(job)) {
		diag_set(d, -EAGAIN, "no thread can be had for the capture");
		return RPC_RESOURCE_EXHAUSTED;
	}
	job->n_holders++;
	jobs->n_threads++;
	job->next = jobs->first;
	jobs->first = job;
	jobs_tell(jobs, job);
	return 0;
}

int job_admission_begin(struct jobs *jobs, const struct caller *caller, struct web_capture *request,
	uint64_t *id, struct diag *d)
{
	struct job *job = job_new(caller, request);
	int r;

	if (!job) {
		diag_set(d, -ENOMEM, "the host daemon is out of memory");
		return RPC_RESOURCE_EXHAUSTED;
	}
	r = runs_check_new(jobs->runs, job->request.run, d);
	if (!r)
		r = job_choice_make(job, jobs->host->programs, d);
	if (!r) {
		pthread_mutex_lock(&jobs->mutex);
		r = add(jobs, job, d);
		*id = job->id;
		pthread_mutex_unlock(&jobs->mutex);
	}
	if (r)
		job_free(job);
	return r;
}
