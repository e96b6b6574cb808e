/* SPDX-License-Identifier: Apache-2.0 */
/* Writing runs; see job_run.h. */
#include "daemon/host/web/job_run.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "daemon/host/calls/ensemble.h"
#include "daemon/host/web/job.h"
#include "daemon/host/web/job_notes.h"
#include "daemon/host/web/jobs.h"
#include "daemon/host/web/run_json.h"
#include "daemon/host/web/run_note.h"
#include "daemon/host/web/runs.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "rpc/server.h"
#include "trace/run_dir.h"

static int is_worth_writing(const struct ensemble *e, size_t i)
{
	return ensemble_has_trace(e, i) && !e->group.members[i].is_empty;
}

/* Under the mutex, as the files are what others are told. */
static void note_file(struct job *job, size_t i, const struct run_dir *dir, const char *path)
{
	const char *name = strrchr(path, '/') + 1;

	pthread_mutex_lock(&job->jobs->mutex);
	snprintf(job->run, sizeof job->run, "%s", dir->run);
	snprintf(job->targets[i].file, sizeof job->targets[i].file, "%s", name);
	pthread_mutex_unlock(&job->jobs->mutex);
}

/* The first names the run, unless that was asked for; the others join it. */
static const char *choose_run(const struct job *job)
{
	if (job->run[0])
		return job->run;
	return job->request.run[0] ? job->request.run : NULL;
}

/* Runs are named after the time when their recording began; a snapshot's is when it was asked for. */
static time_t get_begin_s(const struct job *job)
{
	int64_t begin_ns = job->started_ns;

	if (!begin_ns || job->request.is_snapshot)
		begin_ns = job->created_ns;
	return (time_t)((begin_ns + job->unix_offset_ns) / NS_PER_S);
}

static int write_file(struct job *job, struct ensemble *e, size_t i, struct diag *d)
{
	struct delivery *trace = ensemble_steal_trace(e, i);
	struct run_dir dir = RUN_DIR_INIT;
	char *path = NULL;
	int r = run_dir_open(
		&dir, runs_get_log_dir(job->jobs->runs), choose_run(job), get_begin_s(job), d);

	if (!r && !job->run[0])
		ensemble_append_warnings(e, trace);
	if (!r)
		r = delivery_write(trace, &dir, d);
	if (!r)
		r = run_dir_publish(&dir, e->programs[i].host, &path, d);
	if (!r)
		note_file(job, i, &dir, path);
	run_dir_close(&dir);
	delivery_free(trace);
	free(path);
	return r;
}

/* Programs that were not recorded, while others were. */
static void warn(struct job *job, const struct ensemble *e)
{
	pthread_mutex_lock(&job->jobs->mutex);
	for (size_t i = 0; i < job->n_targets; i++)
		if (job->targets[i].error[0])
			job_warn(job, "not recorded: %s", job->targets[i].error);
	for (size_t i = 0; i < e->group.n; i++)
		if (e->group.members[i].profile.remark[0])
			job_warn(job, "%s: %s", e->programs[i].label,
				e->group.members[i].profile.remark);
	pthread_mutex_unlock(&job->jobs->mutex);
}

static void note_unwritten(struct job *job, size_t i, const char *why)
{
	struct job_target *t = &job->targets[i];

	pthread_mutex_lock(&job->jobs->mutex);
	t->state = JOB_TARGET_FAILED;
	snprintf(t->error, sizeof t->error, "%s", why);
	pthread_mutex_unlock(&job->jobs->mutex);
}

/* After the first that cannot be written no other is tried. */
static int write_files(struct job *job, struct ensemble *e, struct diag *d)
{
	int r = 0;

	for (size_t i = 0; i < e->group.n; i++) {
		if (!is_worth_writing(e, i))
			continue;
		if (!r)
			r = write_file(job, e, i, d);
		if (r)
			note_unwritten(job, i, d->text);
	}
	if (job->run[0])
		run_note_write(runs_get_log_dir(job->jobs->runs), job->run, job);
	return r;
}

static void end_without_files(struct job *job, const struct ensemble *e, int has_empty)
{
	int status = e->group.members[0].capture.status;

	if (has_empty)
		job_notes_end(job, JOB_EMPTY, RPC_OK,
			"no annotation of its level was reached, and there are no samples of usage");
	else
		job_notes_end(job, JOB_FAILED,
			status > RPC_OK && status <= RPC_UNAUTHENTICATED ? status : RPC_UNAVAILABLE,
			"%s", e->group.members[0].error);
}

void job_run_write(struct job *job, struct ensemble *e)
{
	struct diag d = DIAG_INIT;
	size_t n = 0, n_empty = 0;

	job_notes_outcome(job, e);
	for (size_t i = 0; i < e->group.n; i++) {
		n += (size_t)is_worth_writing(e, i);
		n_empty += ensemble_has_trace(e, i) && e->group.members[i].is_empty;
	}
	if (!n) {
		end_without_files(job, e, n_empty > 0);
		return;
	}
	warn(job, e);
	if (write_files(job, e, &d))
		job_notes_end(job, JOB_FAILED, RPC_UNAVAILABLE, "%s", d.text);
	else
		job_notes_end(job, JOB_DONE, RPC_OK, NULL);
	if (job->run[0])
		run_json_tell(job->jobs->runs, job->run);
}
