/* SPDX-License-Identifier: Apache-2.0 */
/* Captures asked for by HTTP; see jobs.h. */
#include "daemon/web/jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/diag.h"
#include "daemon/host/caller.h"
#include "daemon/host/host_calls.h"
#include "daemon/kernel/cond.h"
#include "daemon/web/hub.h"
#include "daemon/web/job.h"
#include "daemon/web/job_choice.h"
#include "daemon/web/job_work.h"
#include "daemon/web/runs.h"
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

/* Under the mutex, as all below up to the next heading. */

static void drop(struct job *j)
{
	if (--j->n_holders == 0)
		job_free(j);
}

static void unlink_job(struct jobs *jobs, struct job *job)
{
	struct job **at = &jobs->first;

	while (*at != job)
		at = &(*at)->next;
	*at = job->next;
	drop(job);
}

static struct job *find(struct jobs *jobs, const struct caller *caller, uint64_t id)
{
	for (struct job *j = jobs->first; j; j = j->next)
		if (j->id == id && caller_may_ask(caller, j->caller.uid))
			return j;
	return NULL;
}

static int fail_unknown(uint64_t id, struct diag *d)
{
	diag_set(d, -ENOENT, "capture %" PRIu64 ": no such capture", id);
	return RPC_NOT_FOUND;
}

/* The oldest of those that are over, where there are too many. */
static void forget_old(struct jobs *jobs)
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
		unlink_job(jobs, oldest);
}

void jobs_tell(struct jobs *jobs, const struct job *job)
{
	/* Of one that was deleted nobody hears any more. */
	if (!atomic_load(&job->cancel))
		hub_post(jobs->hub, HUB_CAPTURES, job->caller.uid, "capture", job_format(job));
}

static void tell_gone(struct jobs *jobs, const struct job *job)
{
	char *text;

	if (asprintf(&text, "{\"id\":%" PRIu64 "}", job->id) >= 0)
		hub_post(jobs->hub, HUB_CAPTURES, job->caller.uid, "capture_gone", text);
}

/* Beginning. */

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

int jobs_begin(struct jobs *jobs, const struct caller *caller, struct capture_request *request,
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

/* Ending. */

void jobs_leave(struct jobs *jobs, struct job *job)
{
	pthread_mutex_lock(&jobs->mutex);
	forget_old(jobs);
	drop(job);
	jobs->n_threads--;
	pthread_cond_broadcast(&jobs->changed);
	pthread_mutex_unlock(&jobs->mutex);
}

int jobs_stop(struct jobs *jobs, const struct caller *caller, uint64_t id, struct diag *d)
{
	struct job *job;
	int r = 0;

	pthread_mutex_lock(&jobs->mutex);
	job = find(jobs, caller, id);
	if (!job) {
		r = fail_unknown(id, d);
	} else if (job_is_over(job)) {
		diag_set(d, -EINVAL, "capture %" PRIu64 ": it is over", id);
		r = RPC_FAILED_PRECONDITION;
	} else {
		atomic_store(&job->stop, 1);
	}
	pthread_mutex_unlock(&jobs->mutex);
	return r;
}

int jobs_delete(struct jobs *jobs, const struct caller *caller, uint64_t id, struct diag *d)
{
	struct job *job;
	int r = 0;

	pthread_mutex_lock(&jobs->mutex);
	job = find(jobs, caller, id);
	if (!job) {
		r = fail_unknown(id, d);
	} else {
		atomic_store(&job->cancel, 1);
		tell_gone(jobs, job);
		unlink_job(jobs, job);
	}
	pthread_mutex_unlock(&jobs->mutex);
	return r;
}

void jobs_refuse(struct jobs *jobs)
{
	pthread_mutex_lock(&jobs->mutex);
	jobs->is_ending = 1;
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

/* Under the mutex. */
static void stop_all(struct jobs *jobs)
{
	for (struct job *j = jobs->first; j; j = j->next)
		atomic_store(&j->stop, 1);
}

void jobs_stop_all(struct jobs *jobs)
{
	pthread_mutex_lock(&jobs->mutex);
	stop_all(jobs);
	pthread_mutex_unlock(&jobs->mutex);
}

unsigned jobs_finish(struct jobs *jobs, int64_t grace_ms)
{
	const int64_t end_ns = monotonic_ns() + grace_ms * NS_PER_MS;
	const struct timespec end = {end_ns / NS_PER_S, end_ns % NS_PER_S};
	unsigned n_left;
	int r = 0;

	pthread_mutex_lock(&jobs->mutex);
	jobs->is_ending = 1;
	stop_all(jobs);
	while (jobs->n_threads && r == 0)
		r = pthread_cond_timedwait(&jobs->changed, &jobs->mutex, &end);
	n_left = jobs->n_threads;
	pthread_mutex_unlock(&jobs->mutex);
	return n_left;
}

void jobs_deinit(struct jobs *jobs)
{
	while (jobs->first)
		unlink_job(jobs, jobs->first);
	pthread_cond_destroy(&jobs->changed);
	pthread_mutex_destroy(&jobs->mutex);
}

/* Telling. */

int jobs_write(struct jobs *jobs, const struct caller *caller, uint64_t id, struct json *json,
	struct diag *d)
{
	const struct job *job;

	pthread_mutex_lock(&jobs->mutex);
	job = find(jobs, caller, id);
	if (job)
		job_write_json(job, json);
	pthread_mutex_unlock(&jobs->mutex);
	return job ? 0 : fail_unknown(id, d);
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

int jobs_has_run(struct jobs *jobs, const char *run)
{
	int has = 0;

	pthread_mutex_lock(&jobs->mutex);
	for (const struct job *j = jobs->first; j; j = j->next)
		has |= !job_is_over(j) && strcmp(j->run, run) == 0;
	pthread_mutex_unlock(&jobs->mutex);
	return has;
}
