/* SPDX-License-Identifier: Apache-2.0 */
/* The table of captures that came by HTTP; see jobs.h. */
#include "daemon/host/web/jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/diag.h"
#include "daemon/host/calls/host_calls.h"
#include "daemon/host/programs/caller.h"
#include "daemon/host/web/hub.h"
#include "daemon/host/web/job.h"
#include "daemon/host/web/job_choice.h"
#include "daemon/host/web/runs.h"
#include "daemon/kernel/thread.h"
#include "rpc/server.h"
#include "trace/json.h"

void jobs_init(struct jobs *jobs, struct host_service *host, struct hub *hub, struct runs *runs)
{
	memset(jobs, 0, sizeof *jobs);
	pthread_mutex_init(&jobs->mutex, NULL);
	cond_init(&jobs->changed);
	jobs->host = host;
	jobs->hub = hub;
	jobs->runs = runs;
}

/* The caller of each function up to the next heading has the mutex. */

static void job_drop(struct job *j)
{
	if (--j->n_holders == 0)
		job_free(j);
}

static void jobs_unlink(struct jobs *jobs, struct job *job)
{
	struct job **at = &jobs->first;

	while (*at != job)
		at = &(*at)->next;
	*at = job->next;
	job_drop(job);
}

static struct job *jobs_find(struct jobs *jobs, const struct caller *caller, uint64_t id)
{
	for (struct job *j = jobs->first; j; j = j->next)
		if (j->id == id && caller_may_ask(caller, j->caller.uid))
			return j;
	return NULL;
}

static int fail_unknown_job(uint64_t id, struct diag *d)
{
	diag_set(d, -ENOENT, "capture %" PRIu64 ": no such capture", id);
	return RPC_NOT_FOUND;
}

/* Forgets the oldest job that is over, if more than JOBS_KEPT are. */
static void jobs_forget_old(struct jobs *jobs)
{
	struct job *oldest = NULL;
	unsigned n = 0;

	for (struct job *j = jobs->first; j; j = j->next) {
		if (!job_is_over(j))
			continue;
		oldest = j;
		n++;
	}
	if (n > JOBS_KEPT)
		jobs_unlink(jobs, oldest);
}

void jobs_tell(struct jobs *jobs, const struct job *job)
{
	/* A deleted job sends no events. */
	if (!atomic_load(&job->cancel))
		hub_post(jobs->hub, HUB_CAPTURES, job->caller.uid, "capture", job_format(job));
}

static void jobs_tell_gone(struct jobs *jobs, const struct job *job)
{
	char *text;

	if (asprintf(&text, "{\"id\":%" PRIu64 "}", job->id) >= 0)
		hub_post(jobs->hub, HUB_CAPTURES, job->caller.uid, "capture_gone", text);
}

/* --- actions on a job ------------------------------------------------------------------------- */

void jobs_leave(struct jobs *jobs, struct job *job)
{
	pthread_mutex_lock(&jobs->mutex);
	jobs_forget_old(jobs);
	job_drop(job);
	jobs->n_threads--;
	pthread_cond_broadcast(&jobs->changed);
	pthread_mutex_unlock(&jobs->mutex);
}

/* An action on a job; the caller has the mutex. 0, or a gRPC status with |d|. */
typedef int job_action(struct jobs *jobs, struct job *job, struct diag *d);

static int jobs_act(struct jobs *jobs, const struct caller *caller, uint64_t id, job_action *action,
	struct diag *d)
{
	struct job *job;
	int r;

	pthread_mutex_lock(&jobs->mutex);
	job = jobs_find(jobs, caller, id);
	r = job ? action(jobs, job, d) : fail_unknown_job(id, d);
	pthread_mutex_unlock(&jobs->mutex);
	return r;
}

static int job_stop(struct jobs *jobs, struct job *job, struct diag *d)
{
	(void)jobs;
	if (job_is_over(job)) {
		diag_set(d, -EINVAL, "capture %" PRIu64 ": it is over", job->id);
		return RPC_FAILED_PRECONDITION;
	}
	atomic_store(&job->stop, 1);
	return 0;
}

int jobs_stop(struct jobs *jobs, const struct caller *caller, uint64_t id, struct diag *d)
{
	return jobs_act(jobs, caller, id, job_stop, d);
}

static int job_forget(struct jobs *jobs, struct job *job, struct diag *d)
{
	(void)d;
	atomic_store(&job->cancel, 1);
	jobs_tell_gone(jobs, job);
	jobs_unlink(jobs, job);
	return 0;
}

int jobs_delete(struct jobs *jobs, const struct caller *caller, uint64_t id, struct diag *d)
{
	return jobs_act(jobs, caller, id, job_forget, d);
}

/* --- lists ------------------------------------------------------------------------------------ */

int jobs_write(struct jobs *jobs, const struct caller *caller, uint64_t id, struct json *json,
	struct diag *d)
{
	const struct job *job;

	pthread_mutex_lock(&jobs->mutex);
	job = jobs_find(jobs, caller, id);
	if (job)
		job_write_json(job, json);
	pthread_mutex_unlock(&jobs->mutex);
	return job ? 0 : fail_unknown_job(id, d);
}

void jobs_write_all(struct jobs *jobs, const struct caller *caller, struct json *json)
{
	pthread_mutex_lock(&jobs->mutex);
	for (const struct job *j = jobs->first; j; j = j->next) {
		if (!caller_may_ask(caller, j->caller.uid))
			continue;
		json_begin_object(json, NULL);
		job_write_json(j, json);
		json_end_object(json);
	}
	pthread_mutex_unlock(&jobs->mutex);
}

bool jobs_has_run(struct jobs *jobs, const char *run)
{
	bool has = false;

	pthread_mutex_lock(&jobs->mutex);
	for (const struct job *j = jobs->first; j; j = j->next)
		has |= !job_is_over(j) && strcmp(j->run, run) == 0;
	pthread_mutex_unlock(&jobs->mutex);
	return has;
}

/* --- the end of the daemon -------------------------------------------------------------------- */

void jobs_refuse(struct jobs *jobs)
{
	pthread_mutex_lock(&jobs->mutex);
	jobs->is_ending = true;
	for (struct job *j = jobs->first; j; j = j->next)
		if (j->state == JOB_WAITING)
			atomic_store(&j->stop, 1);
	pthread_mutex_unlock(&jobs->mutex);
}

unsigned jobs_count(struct jobs *jobs)
{
	unsigned n;

	pthread_mutex_lock(&jobs->mutex);
	n = jobs->n_threads;
	pthread_mutex_unlock(&jobs->mutex);
	return n;
}

/* The caller has the mutex. */
static void jobs_mark_stopped(struct jobs *jobs)
{
	for (struct job *j = jobs->first; j; j = j->next)
		atomic_store(&j->stop, 1);
}

void jobs_stop_all(struct jobs *jobs)
{
	pthread_mutex_lock(&jobs->mutex);
	jobs_mark_stopped(jobs);
	pthread_mutex_unlock(&jobs->mutex);
}

unsigned jobs_finish(struct jobs *jobs, int64_t grace_ms)
{
	const int64_t end_ns = monotonic_ns() + grace_ms * NS_PER_MS;
	const struct timespec end = {end_ns / NS_PER_S, end_ns % NS_PER_S};
	unsigned n_left;
	int r = 0;

	pthread_mutex_lock(&jobs->mutex);
	jobs->is_ending = true;
	jobs_mark_stopped(jobs);
	while (jobs->n_threads && r == 0)
		r = pthread_cond_timedwait(&jobs->changed, &jobs->mutex, &end);
	n_left = jobs->n_threads;
	pthread_mutex_unlock(&jobs->mutex);
	return n_left;
}

/* --- the beginning of a capture --------------------------------------------------------------- */

/* 0 or a gRPC status with |d|. The caller has the mutex. */
static int jobs_check_room(const struct jobs *jobs, const struct caller *caller, struct diag *d)
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

/* The caller has the mutex, so that the new thread begins after the job is in the table. */
static int jobs_add(struct jobs *jobs, struct job *job, struct diag *d)
{
	int r = jobs_check_room(jobs, &job->caller, d);

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

int jobs_begin(struct jobs *jobs, const struct caller *caller, struct web_capture *request,
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
		r = jobs_add(jobs, job, d);
		*id = job->id;
		pthread_mutex_unlock(&jobs->mutex);
	}
	if (r)
		job_free(job);
	return r;
}
