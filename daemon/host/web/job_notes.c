/* SPDX-License-Identifier: Apache-2.0 */
/* Notes on captures; see job_notes.h. */
#include "daemon/host/web/job_notes.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/printable.h"
#include "daemon/host/calls/ensemble.h"
#include "daemon/host/web/jobs.h"
#include "daemon/kernel/time_namespace.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/recording/progress.h"

static void lock(struct job *job)
{
	pthread_mutex_lock(&job->jobs->mutex);
}

static void unlock(struct job *job)
{
	pthread_mutex_unlock(&job->jobs->mutex);
}

void job_notes_begin(struct job *job)
{
	lock(job);
	job->started_ns = monotonic_ns();
	jobs_tell(job->jobs, job);
	unlock(job);
}

/* Progress. Under the mutex, as far as to the next heading. */

/*
 * JAX's and TensorFlow's servers report no progress, so it is estimated from the time that has
 * passed.
 */
static void note_stock_target(const struct job *job, struct job_target *t)
{
	const struct web_capture *q = &job->request;
	int64_t elapsed_ms = (monotonic_ns() - t->asked_ns) / NS_PER_MS;

	elapsed_ms -= q->is_snapshot ? 0 : (int64_t)q->options.delay_ms;
	if (elapsed_ms < 0)
		return;
	t->elapsed_ms =
		(uint64_t)elapsed_ms < q->duration_ms ? (uint64_t)elapsed_ms : q->duration_ms;
	t->state = t->elapsed_ms < q->duration_ms ? JOB_TARGET_RECORDING : JOB_TARGET_COLLECTING;
}

static void note_target(
	const struct job *job, struct job_target *t, const struct group_member *host)
{
	const struct remote_progress *p = &host->capture.progress;

	if (!t->asked_ns)
		t->asked_ns = monotonic_ns();
	if (host->is_stock) {
		note_stock_target(job, t);
		return;
	}
	t->elapsed_ms = p->elapsed_ns / NS_PER_MS;
	t->recorded_bytes = p->recorded_bytes;
	t->trace_bytes = p->xspace_bytes;
	if (p->phase == PROGRESS_RECORDING)
		t->state = JOB_TARGET_RECORDING;
	else if (p->phase == PROGRESS_COLLECTING)
		t->state = JOB_TARGET_COLLECTING;
}

/* The one that is least far says how far all are; those that are over do not count. */
static enum job_state find_state(const struct job *job, const struct ensemble *e)
{
	enum job_state state = JOB_WRITING;

	for (size_t i = 0; i < e->group.n; i++) {
		enum job_state its = JOB_STARTING + (enum job_state)job->targets[i].state;

		if (!group_member_is_over(&e->group.members[i]) && its < state)
			state = its;
	}
	return state == JOB_WRITING ? JOB_COLLECTING : state;
}

static int note_progress(struct job *job, const struct ensemble *e, int is_due)
{
	enum job_state state;
	int is_new;

	for (size_t i = 0; i < e->group.n; i++)
		note_target(job, &job->targets[i], &e->group.members[i]);
	state = find_state(job, e);
	is_new = state > job->state;
	if (is_new)
		job->state = state;
	if (!job->started_ns && (!job->request.next[0] || e->group.members[0].is_stock) &&
		job->state >= JOB_RECORDING)
		job->started_ns = monotonic_ns() - (int64_t)job->targets[0].elapsed_ms * NS_PER_MS;
	if (is_new || is_due)
		jobs_tell(job->jobs, job);
	return is_new || is_due;
}

/* Telling. */

int job_notes_progress(struct job *job, const struct ensemble *e, int is_due)
{
	int is_told;

	lock(job);
	is_told = note_progress(job, e, is_due);
	unlock(job);
	return is_told;
}

void job_notes_state(struct job *job, enum job_state state)
{
	lock(job);
	job->state = state;
	jobs_tell(job->jobs, job);
	unlock(job);
}

/* As its server says, which knows it best. */
static void note_start(struct job *job, const struct remote_capture *capture)
{
	if (capture->usage_since_ns)
		job->started_ns =
			(int64_t)capture->usage_since_ns + time_namespace_find_ahead_ns("", 0);
	else if (capture->start_unix_ns && !job->started_ns)
		job->started_ns = (int64_t)capture->start_unix_ns - job->unix_offset_ns;
}

static void note_outcome(struct job *job, struct job_target *t, const struct group_member *host)
{
	t->n_events = host->capture.n_events;
	t->n_dropped = host->capture.n_dropped;
	if (!job->request.next[0] || host->is_stock)
		note_start(job, &host->capture);
	snprintf(t->error, sizeof t->error, "%s", host->error);
	if (host->error[0])
		t->state = JOB_TARGET_FAILED;
	else
		t->state = host->is_empty ? JOB_TARGET_EMPTY : JOB_TARGET_DONE;
	if (host->trace)
		t->trace_bytes = delivery_get_bytes(host->trace);
}

void job_notes_outcome(struct job *job, const struct ensemble *e)
{
	lock(job);
	for (size_t i = 0; i < e->group.n; i++)
		note_outcome(job, &job->targets[i], &e->group.members[i]);
	job->state = JOB_WRITING;
	jobs_tell(job->jobs, job);
	unlock(job);
}

void job_notes_end(struct job *job, enum job_state state, int status, const char *format, ...)
{
	va_list args;

	lock(job);
	job->state = state;
	job->status = status;
	job->ended_ns = monotonic_ns();
	if (format) {
		va_start(args, format);
		vsnprintf(job->error, sizeof job->error, format, args);
		va_end(args);
		/* The names in it are their users' words. */
		printable_clean(job->error);
	}
	log_info(LOG_CAPTURE, "capture %" PRIu64 " of uid %u: %zu programs, run %s: %s", job->id,
		job->caller.uid, job->n_targets, job->run[0] ? job->run : "none",
		job->error[0] ? job->error : "done");
	jobs_tell(job->jobs, job);
	unlock(job);
}
