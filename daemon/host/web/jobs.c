/* SPDX-License-Identifier: Apache-2.0 */
/* Captures asked for by HTTP; see jobs.h. */
#include "daemon/host/web/jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "daemon/host/programs/caller.h"
#include "daemon/host/web/hub.h"
#include "daemon/host/web/job.h"
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
	/* A deleted job sends no events. */
	if (!atomic_load(&job->cancel))
		hub_post(jobs->hub, HUB_CAPTURES, job->caller.uid, "capture", job_format(job));
}

static void tell_gone(struct jobs *jobs, const struct job *job)
{
	char *text;

	if (asprintf(&text, "{\"id\":%" PRIu64 "}", job->id) >= 0)
		hub_post(jobs->hub, HUB_CAPTURES, job->caller.uid, "capture_gone", text);
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

/* An action on a job, called under the mutex. 0, or a gRPC status with |d|. */
typedef int job_action(struct jobs *jobs, struct job *job, struct diag *d);

static int act(struct jobs *jobs, const struct caller *caller, uint64_t id, job_action *action,
	struct diag *d)
{
	struct job *job;
	int r;

	pthread_mutex_lock(&jobs->mutex);
	job = find(jobs, caller, id);
	r = job ? action(jobs, job, d) : fail_unknown(id, d);
	pthread_mutex_unlock(&jobs->mutex);
	return r;
}

static int stop(struct jobs *jobs, struct job *job, struct diag *d)
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
	return act(jobs, caller, id, stop, d);
}

static int forget(struct jobs *jobs, struct job *job, struct diag *d)
{
	(void)d;
	atomic_store(&job->cancel, 1);
	tell_gone(jobs, job);
	unlink_job(jobs, job);
	return 0;
}

int jobs_delete(struct jobs *jobs, const struct caller *caller, uint64_t id, struct diag *d)
{
	return act(jobs, caller, id, forget, d);
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
