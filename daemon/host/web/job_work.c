/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of a capture's thread; see job_work.h. The thread changes the job under the mutex, since
 * others read it; everything else is its own.
 */
#include "daemon/host/web/job_work.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/log.h"
#include "daemon/host/calls/account.h"
#include "daemon/host/calls/audit.h"
#include "daemon/host/calls/ensemble.h"
#include "daemon/host/calls/host_calls.h"
#include "daemon/host/programs/programs.h"
#include "daemon/host/web/hub.h"
#include "daemon/host/web/job.h"
#include "daemon/host/web/job_choice.h"
#include "daemon/host/web/job_notes.h"
#include "daemon/host/web/job_run.h"
#include "daemon/host/web/jobs.h"
#include "daemon/host/web/runs.h"
#include "proto/options_message.h"
#include "rpc/server.h"

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
		.is_caller_known = 1,
		.begun_ns = begun_ns};

	pthread_mutex_lock(&job->jobs->mutex);
	audit_add_targets(&a, job);
	a.result = rpc_status_name(job->status);
	a.reason = job->error;
	audit_format_options(a.options, sizeof a.options, &job->request);
	audit_write(&a);
	pthread_mutex_unlock(&job->jobs->mutex);
}

/* --- the work --------------------------------------------------------------------------------- */

/* A job that waits for a program notices within this time that it is to end. */
#define TURN_MS 200
#define PROGRESS_MS 250
#define TELL_NS (500 * NS_PER_MS)
#define SESSION_BYTES 64

struct work {
	struct job *job;
	struct ensemble ensemble;
	struct account accounts[CAPTURE_GROUP_MAX]; /* of the ensemble's members */
	struct options_message options;
	char session_id[SESSION_BYTES];
	int64_t told_ns; /* CLOCK_MONOTONIC */
	int64_t wait_end_ns; /* likewise; for a program's first annotation */
	int64_t end_ns; /* likewise; of one that begins with its first annotation; 0: that has not come */
	int is_told_to_end;
};

/* Waiting for a program. 1 when it has come. */

static int is_given_up(const struct job *job)
{
	return atomic_load(&job->cancel) || atomic_load(&job->stop);
}

/* Under the mutex, as it changes the job. */
static int has_come(struct job *job)
{
	int has;

	pthread_mutex_lock(&job->jobs->mutex);
	has = job_choice_find_next(job, job->jobs->host->programs);
	if (has) {
		job->state = JOB_STARTING;
		jobs_tell(job->jobs, job);
	}
	pthread_mutex_unlock(&job->jobs->mutex);
	return has;
}

static int await_program(struct work *w)
{
	struct job *job = w->job;
	uint64_t n_wanted = job->newest + 1;

	w->wait_end_ns = monotonic_ns() + (int64_t)job->request.wait_ms * NS_PER_MS;
	while (!is_given_up(job) && monotonic_ns() < w->wait_end_ns) {
		uint64_t newest = programs_await(job->jobs->host->programs, n_wanted, TURN_MS);

		if (newest < n_wanted)
			continue;
		n_wanted = newest + 1;
		if (has_come(job))
			return 1;
	}
	return 0;
}

static void end_without_program(struct work *w)
{
	struct job *job = w->job;

	if (is_given_up(job)) {
		job_notes_end(job, JOB_CANCELLED, RPC_CANCELLED, "given up before a program came");
		return;
	}
	job_notes_end(job, JOB_FAILED, RPC_DEADLINE_EXCEEDED,
		"%.300s: no program of this name has come within %" PRIu64 " s", job->request.next,
		job->request.wait_ms / 1000);
}

/* What is asked. */

/*
 * Whether it begins with the program's first annotation: servers of another make do not tell of
 * that, and record at once.
 */
static int awaits_annotation(const struct work *w)
{
	return w->job->request.next[0] && !w->ensemble.group.members[0].is_stock;
}

/* For ever, where it begins with an annotation: then its end is told. */
static uint64_t choose_duration_ms(const struct work *w)
{
	const struct web_capture *q = &w->job->request;

	return awaits_annotation(w) ? q->wait_ms + q->duration_ms : q->duration_ms;
}

static int set_options(struct work *w)
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

/* Where a program is gone by now the way to it says so. */
static void add_programs(struct work *w)
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

/* Recording. */

/* A snapshot ends by itself, and its session is not ours. */
static void tell_to_end(struct work *w)
{
	if (!w->is_told_to_end && !w->job->request.is_snapshot)
		capture_group_ask_to_end(&w->ensemble.group);
	w->is_told_to_end = 1;
}

/* Whether the program has been heard: what is recorded before is none of its annotations. */
static int has_annotated(const struct work *w)
{
	return w->ensemble.group.members[0].capture.progress.recorded_bytes > 0;
}

/* From its first annotation on. */
static void keep_time(struct work *w)
{
	int64_t now_ns = monotonic_ns();

	if (!w->end_ns && has_annotated(w)) {
		w->end_ns = now_ns + (int64_t)w->job->request.duration_ms * NS_PER_MS;
		job_notes_begin(w->job);
	}
	if (now_ns >= (w->end_ns ? w->end_ns : w->wait_end_ns))
		tell_to_end(w);
}

static int look(void *context)
{
	struct work *w = context;
	struct job *job = w->job;
	int64_t now_ns = monotonic_ns();
	int is_due = now_ns >= w->told_ns + TELL_NS;

	if (job_notes_progress(job, &w->ensemble, is_due))
		w->told_ns = now_ns;
	if (atomic_load(&job->stop))
		tell_to_end(w);
	if (awaits_annotation(w))
		keep_time(w);
	return atomic_load(&job->cancel);
}

static void start_recording(struct work *w)
{
	Tensorflow__ProfileRequest asked = TENSORFLOW__PROFILE_REQUEST__INIT;

	asked.opts = &w->options.message;
	asked.duration_ms = w->options.message.duration_ms;
	ensemble_start(&w->ensemble, &asked);
}

static void start_snapshot(struct work *w)
{
	const struct web_capture *q = &w->job->request;
	const struct remote_snapshot what = {q->session, q->last_ms, q->ends};

	capture_group_start_snapshot(&w->ensemble.group, &what);
}

/* How long it took is counted from |asked_by| on. */
static void take_accounts(struct work *w, const struct account *asked_by)
{
	for (size_t i = 0; i < w->ensemble.group.n; i++) {
		w->accounts[i] = *asked_by;
		account_take_member(&w->accounts[i], &w->ensemble, i);
	}
}

/* Once it is known whether the traces could be written. */
static void end_accounts(struct work *w)
{
	struct job *job = w->job;
	int is_cancelled = atomic_load(&job->cancel);

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

static void record(struct work *w)
{
	struct account asked_by;

	w->ensemble.group.share.max_bytes = UINT64_MAX;
	w->ensemble.group.share.dir = runs_get_log_dir(w->job->jobs->runs);
	w->ensemble.group.progress_interval_ms = PROGRESS_MS;
	w->wait_end_ns = monotonic_ns() + (int64_t)w->job->request.wait_ms * NS_PER_MS;
	account_begin(&asked_by, LEDGER_WEB, 0);
	if (w->job->request.is_snapshot)
		start_snapshot(w);
	else
		start_recording(w);
	capture_group_record(&w->ensemble.group, look, w);
	capture_group_end(&w->ensemble.group);
	take_accounts(w, &asked_by);
}

static void write_run(struct work *w)
{
	ensemble_append_usage(&w->ensemble, w->job->jobs->host->machine);
	job_run_write(w->job, &w->ensemble);
}

static void work(struct work *w)
{
	struct job *job = w->job;

	if (job->request.next[0] && !await_program(w)) {
		end_without_program(w);
		return;
	}
	add_programs(w);
	if (set_options(w)) {
		job_notes_end(job, JOB_FAILED, RPC_RESOURCE_EXHAUSTED,
			"the host daemon is out of memory");
		return;
	}
	record(w);
	if (atomic_load(&job->cancel))
		job_notes_end(job, JOB_CANCELLED, RPC_CANCELLED, "given up");
	else
		write_run(w);
	end_accounts(w);
}

static void *run(void *context)
{
	struct job *job = context;
	struct work *w = calloc(1, sizeof *w);
	int64_t begun_ns = monotonic_ns();

	if (w) {
		w->job = job;
		work(w);
		ensemble_deinit(&w->ensemble);
		options_message_deinit(&w->options);
	} else {
		job_notes_end(job, JOB_FAILED, RPC_RESOURCE_EXHAUSTED,
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
	r = pthread_create(&thread, &attributes, run, job);
	pthread_attr_destroy(&attributes);
	return -r;
}
