/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread of a capture that came by HTTP waits for the program, records and writes the run. It
 * changes the job under the mutex, since other threads read it; everything else is its own.
 */
#include "daemon/host/web/job.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/log.h"
#include "daemon/host/calls/audit.h"
#include "daemon/host/calls/ensemble.h"
#include "daemon/host/calls/host_calls.h"
#include "daemon/host/calls/ledger.h"
#include "daemon/host/programs/programs.h"
#include "daemon/host/web/hub.h"
#include "daemon/host/web/job_choice.h"
#include "daemon/host/web/jobs.h"
#include "daemon/host/web/run_files.h"
#include "daemon/host/web/runs.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "proto/options_message.h"
#include "rpc/server.h"
#include "trace/run_dir.h"

/* --- the audit -------------------------------------------------------------------------------- */

static void audit_add_targets(struct audit *a, const struct job *job)
{
	for (size_t i = 0; i < job->n_targets; i++) {
		struct program program = {.pid = job->targets[i].pid};

		snprintf(program.status.name, sizeof program.status.name, "%s",
			job->targets[i].name);
		audit_add_target(a, &program);
		a->n_bytes += job->targets[i].trace_bytes;
	}
}

static void audit_format_options(char *out, size_t size, const struct web_capture *q)
{
	if (q->is_snapshot)
		snprintf(out, size, "snapshot=%s last_ms=%llu end=%s", q->session,
			(unsigned long long)q->last_ms, q->ends ? "true" : "false");
	else
		snprintf(out, size, "duration_ms=%llu%s%s", (unsigned long long)q->duration_ms,
			web_capture_has_options(q) ? " " : "",
			web_capture_has_options(q) ? q->options_text : "");
}

/* Writes the audit's line of a job whose work began at |begun_ns| (CLOCK_MONOTONIC) and is over. */
static void job_audit_write(const struct job *job, int64_t begun_ns)
{
	struct audit a = {.what = "WebCapture",
		.caller = job->caller,
		.is_caller_known = true,
		.begun_ns = begun_ns};

	pthread_mutex_lock(&job->jobs->mutex);
	audit_add_targets(&a, job);
	a.result = rpc_status_name(job->status);
	a.reason = job->error;
	audit_format_options(a.options, sizeof a.options, &job->request);
	audit_write(&a);
	pthread_mutex_unlock(&job->jobs->mutex);
}

/* --- the run ---------------------------------------------------------------------------------- */

static bool job_has_events(const struct ensemble *e, size_t i)
{
	return ensemble_has_trace(e, i) && !e->group.members[i].is_empty;
}

/* Takes the mutex, because other threads read the names of the files. */
static void job_note_file(struct job *job, size_t i, const struct run_dir *dir, const char *path)
{
	const char *name = strrchr(path, '/') + 1;

	pthread_mutex_lock(&job->jobs->mutex);
	snprintf(job->run, sizeof job->run, "%s", dir->run);
	snprintf(job->targets[i].file, sizeof job->targets[i].file, "%s", name);
	pthread_mutex_unlock(&job->jobs->mutex);
}

/* Without a name in the request, writing the first file names the run for all further files. */
static const char *job_choose_run(const struct job *job)
{
	if (job->run[0])
		return job->run;
	return job->request.run[0] ? job->request.run : NULL;
}

/*
 * Runs are named after the time when their recording began, those of snapshots after the time of
 * the request.
 */
static time_t job_get_begin_s(const struct job *job)
{
	int64_t begin_ns = job->started_ns;

	if (!begin_ns || job->request.is_snapshot)
		begin_ns = job->created_ns;
	return (time_t)((begin_ns + job->unix_offset_ns) / NS_PER_S);
}

static int job_write_file(struct job *job, struct ensemble *e, size_t i, struct diag *d)
{
	struct delivery *trace = ensemble_steal_trace(e, i);
	struct run_dir dir = RUN_DIR_INIT;
	char *path = NULL;
	int r = run_dir_open(&dir, runs_get_log_dir(job->jobs->runs), job_choose_run(job),
		job_get_begin_s(job), d);

	if (!r && !job->run[0])
		ensemble_append_warnings(e, trace);
	if (!r)
		r = delivery_write(trace, &dir, d);
	if (!r)
		r = run_dir_publish(&dir, e->programs[i].host, &path, d);
	if (!r)
		job_note_file(job, i, &dir, path);
	run_dir_close(&dir);
	delivery_free(trace);
	free(path);
	return r;
}

/* Adds a warning for each unrecorded program, and the remarks about those that were recorded. */
static void job_warn_unrecorded(struct job *job, const struct ensemble *e)
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

static void job_note_unwritten(struct job *job, size_t i, const char *why)
{
	struct job_target *t = &job->targets[i];

	pthread_mutex_lock(&job->jobs->mutex);
	t->state = JOB_TARGET_FAILED;
	snprintf(t->error, sizeof t->error, "%s", why);
	pthread_mutex_unlock(&job->jobs->mutex);
}

/* Stops after the first file that cannot be written. */
static int job_write_files(struct job *job, struct ensemble *e, struct diag *d)
{
	int r = 0;

	for (size_t i = 0; i < e->group.n; i++) {
		if (!job_has_events(e, i))
			continue;
		if (!r)
			r = job_write_file(job, e, i, d);
		if (r)
			job_note_unwritten(job, i, d->text);
	}
	if (job->run[0])
		run_note_write(runs_get_log_dir(job->jobs->runs), job->run, job);
	return r;
}

static void job_end_without_files(struct job *job, const struct ensemble *e, bool has_empty)
{
	int status = e->group.members[0].capture.status;

	if (has_empty)
		job_note_end(job, JOB_EMPTY, RPC_OK,
			"no annotation of the capture's level was reached, and "
			"there are no samples of usage");
	else
		job_note_end(job, JOB_FAILED,
			status > RPC_OK && status <= RPC_UNAUTHENTICATED ? status : RPC_UNAVAILABLE,
			"%s", e->group.members[0].error);
}

static void job_write_run(struct job *job, struct ensemble *e)
{
	struct diag d = DIAG_INIT;
	size_t n = 0, n_empty = 0;

	job_note_outcome(job, e);
	for (size_t i = 0; i < e->group.n; i++) {
		n += (size_t)job_has_events(e, i);
		n_empty += ensemble_has_trace(e, i) && e->group.members[i].is_empty;
	}
	if (!n) {
		job_end_without_files(job, e, n_empty > 0);
		return;
	}
	job_warn_unrecorded(job, e);
	if (job_write_files(job, e, &d))
		job_note_end(job, JOB_FAILED, RPC_UNAVAILABLE, "%s", d.text);
	else
		job_note_end(job, JOB_DONE, RPC_OK, NULL);
	if (job->run[0])
		runs_tell(job->jobs->runs, job->run);
}

/* --- the work --------------------------------------------------------------------------------- */

/* A job that waits for a program notices within this time that it must end. */
#define TURN_MS 200
#define PROGRESS_MS 250
#define TELL_NS (500 * NS_PER_MS)
#define SESSION_BYTES 64

struct job_work {
	struct job *job;
	struct ensemble ensemble;
	struct account accounts[CAPTURE_GROUP_MAX]; /* of the ensemble's members */
	struct options_message options;
	char session_id[SESSION_BYTES];
	int64_t told_ns; /* CLOCK_MONOTONIC */
	/* likewise; end of the wait for the program, later that of the wait for its annotation */
	int64_t wait_end_ns;
	/* End of a recording that begins with the first annotation; 0: that has not come yet. */
	int64_t end_ns;
	bool is_told_to_end;
};

/* --- waiting for a program -------------------------------------------------------------------- */

static bool job_is_given_up(const struct job *job)
{
	return atomic_load(&job->cancel) || atomic_load(&job->stop);
}

/* Takes the mutex, because it changes the job. */
static bool job_take_program(struct job *job)
{
	bool has;

	pthread_mutex_lock(&job->jobs->mutex);
	has = job_choice_find_next(job, job->jobs->host->programs);
	if (has) {
		job->state = JOB_STARTING;
		jobs_tell(job->jobs, job);
	}
	pthread_mutex_unlock(&job->jobs->mutex);
	return has;
}

/* Returns true when the program has come. */
static bool work_await_program(struct job_work *w)
{
	struct job *job = w->job;
	uint64_t n_wanted = job->newest + 1;

	w->wait_end_ns = monotonic_ns() + (int64_t)job->request.wait_ms * NS_PER_MS;
	while (!job_is_given_up(job) && monotonic_ns() < w->wait_end_ns) {
		uint64_t newest = programs_await(job->jobs->host->programs, n_wanted, TURN_MS);

		if (newest < n_wanted)
			continue;
		n_wanted = newest + 1;
		if (job_take_program(job))
			return true;
	}
	return false;
}

static void work_end_without_program(struct job_work *w)
{
	struct job *job = w->job;

	if (job_is_given_up(job)) {
		job_note_end(job, JOB_CANCELLED, RPC_CANCELLED, "given up before a program came");
		return;
	}
	job_note_end(job, JOB_FAILED, RPC_DEADLINE_EXCEEDED,
		"%.300s: no program of this name has come within %" PRIu64 " s", job->request.next,
		job->request.wait_ms / 1000);
}

/* --- the request ------------------------------------------------------------------------------ */

/*
 * The recording of a program that had yet to start begins with its first annotation. Servers of
 * another make do not report annotations, and record at once.
 */
static bool awaits_annotation(const struct job_work *w)
{
	return w->job->request.next[0] && !w->ensemble.group.members[0].is_stock;
}

/*
 * If the recording begins with an annotation, servers are asked for a duration that includes the
 * longest wait for it. work_keep_time() ends the recording in time.
 */
static uint64_t choose_duration_ms(const struct job_work *w)
{
	const struct web_capture *q = &w->job->request;

	return awaits_annotation(w) ? q->wait_ms + q->duration_ms : q->duration_ms;
}

static int work_set_options(struct job_work *w)
{
	const struct job *job = w->job;
	const struct web_capture *q = &job->request;
	int r = options_message_init(&w->options, &q->options, NULL);

	if (r)
		return r;
	snprintf(w->session_id, sizeof w->session_id, "web_%" PRId64 "_%" PRIu64,
		job->jobs->hub->started_unix_ms, job->id);
	w->options.message.session_id = w->session_id;
	w->options.message.duration_ms = choose_duration_ms(w);
	if (q->options.delay_ms)
		w->options.message.start_timestamp_ns =
			(uint64_t)realtime_ns() + q->options.delay_ms * (uint64_t)NS_PER_MS;
	return 0;
}

/* Adds even programs that are gone by now; the ensemble reports them. */
static void work_add_programs(struct job_work *w)
{
	struct job *job = w->job;
	struct programs *programs = job->jobs->host->programs;

	for (size_t i = 0; i < job->n_targets; i++) {
		struct program program = {.id = job->targets[i].id, .pid = job->targets[i].pid};
		const struct program *found;

		pthread_mutex_lock(&programs->mutex);
		found = programs_find(programs, program.id);
		if (found)
			program = *found;
		pthread_mutex_unlock(&programs->mutex);
		snprintf(program.status.name, sizeof program.status.name, "%s",
			job->targets[i].name);
		ensemble_add(&w->ensemble, programs, &program);
	}
}

/* --- the recording ---------------------------------------------------------------------------- */

/* Does nothing for a snapshot, which ends by itself and whose session another call began. */
static void work_tell_to_end(struct job_work *w)
{
	if (!w->is_told_to_end && !w->job->request.is_snapshot)
		capture_group_ask_to_end(&w->ensemble.group);
	w->is_told_to_end = true;
}

/* Bytes are recorded only from the program's first annotation on. */
static bool has_annotated(const struct job_work *w)
{
	return w->ensemble.group.members[0].capture.progress.recorded_bytes > 0;
}

/* Counts the duration from the first annotation on. */
static void work_keep_time(struct job_work *w)
{
	int64_t now_ns = monotonic_ns();

	if (!w->end_ns && has_annotated(w)) {
		w->end_ns = now_ns + (int64_t)w->job->request.duration_ms * NS_PER_MS;
		job_note_begin(w->job);
	}
	if (now_ns >= (w->end_ns ? w->end_ns : w->wait_end_ns))
		work_tell_to_end(w);
}

static bool work_poll(void *context)
{
	struct job_work *w = context;
	struct job *job = w->job;
	int64_t now_ns = monotonic_ns();
	bool is_due = now_ns >= w->told_ns + TELL_NS;

	if (job_note_progress(job, &w->ensemble, is_due))
		w->told_ns = now_ns;
	if (atomic_load(&job->stop))
		work_tell_to_end(w);
	if (awaits_annotation(w))
		work_keep_time(w);
	return atomic_load(&job->cancel);
}

static void work_start_recording(struct job_work *w)
{
	Tensorflow__ProfileRequest asked = TENSORFLOW__PROFILE_REQUEST__INIT;

	asked.opts = &w->options.message;
	asked.duration_ms = w->options.message.duration_ms;
	ensemble_start(&w->ensemble, &asked);
}

static void work_start_snapshot(struct job_work *w)
{
	const struct web_capture *q = &w->job->request;
	const struct remote_snapshot what = {q->session, q->last_ms, q->ends};

	capture_group_start_snapshot(&w->ensemble.group, &what);
}

/* Makes an account for each program; its time counts from the beginning of |asked_by|. */
static void work_take_accounts(struct job_work *w, const struct account *asked_by)
{
	for (size_t i = 0; i < w->ensemble.group.n; i++) {
		w->accounts[i] = *asked_by;
		account_take_member(&w->accounts[i], &w->ensemble, i);
	}
}

/* Called after the traces were written, could not be written, or were given up. */
static void work_end_accounts(struct job_work *w)
{
	struct job *job = w->job;
	bool is_cancelled = atomic_load(&job->cancel);

	for (size_t i = 0; i < w->ensemble.group.n; i++) {
		struct account *a = &w->accounts[i];
		int status = w->ensemble.group.members[i].capture.status;

		if (is_cancelled && !a->is_complete)
			status = RPC_CANCELLED;
		else if (job->targets[i].state == JOB_TARGET_FAILED)
			account_lose(a);
		account_end(a, job->jobs->host->ledger, status);
	}
}

static void work_record(struct job_work *w)
{
	struct account asked_by;

	w->ensemble.group.share.max_bytes = UINT64_MAX;
	w->ensemble.group.share.dir = runs_get_log_dir(w->job->jobs->runs);
	w->ensemble.group.progress_interval_ms = PROGRESS_MS;
	w->wait_end_ns = monotonic_ns() + (int64_t)w->job->request.wait_ms * NS_PER_MS;
	account_begin(&asked_by, LEDGER_WEB, 0);
	if (w->job->request.is_snapshot)
		work_start_snapshot(w);
	else
		work_start_recording(w);
	capture_group_record(&w->ensemble.group, work_poll, w);
	capture_group_end(&w->ensemble.group);
	work_take_accounts(w, &asked_by);
}

static void work_write_run(struct job_work *w)
{
	ensemble_append_usage(&w->ensemble, w->job->jobs->host->machine);
	job_write_run(w->job, &w->ensemble);
}

static void work_do(struct job_work *w)
{
	struct job *job = w->job;

	if (job->request.next[0] && !work_await_program(w)) {
		work_end_without_program(w);
		return;
	}
	work_add_programs(w);
	if (work_set_options(w)) {
		job_note_end(job, JOB_FAILED, RPC_RESOURCE_EXHAUSTED,
			"the host daemon is out of memory");
		return;
	}
	work_record(w);
	if (atomic_load(&job->cancel))
		job_note_end(job, JOB_CANCELLED, RPC_CANCELLED, "given up");
	else
		work_write_run(w);
	work_end_accounts(w);
}

static void *job_thread_run(void *context)
{
	struct job *job = context;
	struct job_work *w = calloc(1, sizeof *w);
	int64_t begun_ns = monotonic_ns();

	if (w) {
		w->job = job;
		work_do(w);
		ensemble_deinit(&w->ensemble);
		options_message_deinit(&w->options);
	} else {
		job_note_end(job, JOB_FAILED, RPC_RESOURCE_EXHAUSTED,
			"the host daemon is out of memory");
	}
	free(w);
	job_audit_write(job, begun_ns);
	jobs_leave(job->jobs, job);
	return NULL;
}

int job_work_start(struct job *job)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int r;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	r = pthread_create(&thread, &attributes, job_thread_run, job);
	pthread_attr_destroy(&attributes);
	return -r;
}
