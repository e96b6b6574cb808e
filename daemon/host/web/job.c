/* SPDX-License-Identifier: Apache-2.0 */
/* Captures that came by HTTP; see job.h. */
#include "daemon/host/web/job.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/printable.h"
#include "daemon/host/calls/ensemble.h"
#include "daemon/host/web/jobs.h"
#include "daemon/host/web/json_text.h"
#include "daemon/host/web/target_json.h"
#include "daemon/kernel/time_namespace.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/recording/progress.h"
#include "rpc/server.h"

struct job *job_new(const struct caller *caller, struct web_capture *request)
{
	struct job *j = calloc(1, sizeof *j);

	if (j)
		j->targets = calloc(WEB_CAPTURE_MAX_TARGETS, sizeof *j->targets);
	if (!j || !j->targets) {
		web_capture_deinit(request);
		free(j);
		return NULL;
	}
	j->caller = *caller;
	j->request = *request;
	j->state = request->next[0] ? JOB_WAITING : JOB_STARTING;
	j->created_ns = monotonic_ns();
	j->unix_offset_ns = clock_find_unix_offset_ns();
	j->n_holders = 1;
	return j;
}

struct job *job_free(struct job *j)
{
	if (!j)
		return NULL;
	web_capture_deinit(&j->request);
	for (size_t i = 0; i < j->n_warnings; i++)
		free(j->warnings[i]);
	free(j->warnings);
	free(j->targets);
	free(j);
	return NULL;
}

bool job_is_over(const struct job *j)
{
	return j->state >= JOB_DONE;
}

void job_warn(struct job *j, const char *format, ...)
{
	char **more = reallocarray(j->warnings, j->n_warnings + 1, sizeof *more);
	va_list args;

	if (!more)
		return;
	j->warnings = more;
	va_start(args, format);
	if (vasprintf(&more[j->n_warnings], format, args) >= 0)
		j->n_warnings++;
	va_end(args);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static const char *const state_names[] = {
	[JOB_WAITING] = "waiting",
	[JOB_STARTING] = "starting",
	[JOB_RECORDING] = "recording",
	[JOB_COLLECTING] = "collecting",
	[JOB_WRITING] = "writing",
	[JOB_DONE] = "done",
	[JOB_FAILED] = "failed",
	[JOB_EMPTY] = "empty",
	[JOB_CANCELLED] = "cancelled",
};

static const char *const target_state_names[] = {
	[JOB_TARGET_WAITING] = "waiting",
	[JOB_TARGET_RECORDING] = "recording",
	[JOB_TARGET_COLLECTING] = "collecting",
	[JOB_TARGET_DONE] = "done",
	[JOB_TARGET_EMPTY] = "empty",
	[JOB_TARGET_FAILED] = "failed",
};

static void write_time(struct json *json, const char *key, const struct job *j, int64_t at_ns)
{
	if (at_ns)
		json_int(json, key, (at_ns + j->unix_offset_ns) / NS_PER_MS);
	else
		json_nothing(json, key);
}

static void write_target(struct json *json, const struct job_target *t)
{
	json_begin_object(json, NULL);
	json_uint(json, "id", t->id);
	json_int(json, "pid", t->pid);
	json_text(json, "name", t->name);
	json_text(json, "state", target_state_names[t->state]);
	json_uint(json, "elapsed_ms", t->elapsed_ms);
	json_uint(json, "recorded_bytes", t->recorded_bytes);
	json_uint(json, "trace_bytes", t->trace_bytes);
	json_uint(json, "n_events", t->n_events);
	json_uint(json, "n_dropped", t->n_dropped);
	json_known_text(json, "error", t->error);
	json_end_object(json);
}

/* Writes the targets as one text: "train,4243". */
static void write_words(struct json *json, const struct web_capture *q)
{
	char text[WEB_CAPTURE_MAX_TARGETS * WEB_CAPTURE_TARGET_BYTES];
	size_t n = 0;

	for (size_t i = 0; i < q->n_targets; i++)
		n += (size_t)snprintf(
			text + n, sizeof text - n, "%s%s", i ? "," : "", q->targets[i]);
	json_text(json, "target", q->n_targets ? text : NULL);
}

static void write_request(struct json *json, const struct web_capture *q)
{
	write_words(json, q);
	json_known_text(json, "next", q->next);
	json_text(json, "snapshot", q->is_snapshot ? q->session : NULL);
	if (q->is_snapshot)
		json_nothing(json, "duration_ms");
	else
		json_uint(json, "duration_ms", q->duration_ms);
	if (q->next[0])
		json_uint(json, "wait_ms", q->wait_ms);
	else
		json_nothing(json, "wait_ms");
	json_raw(json, "options", q->options_text);
}

static void write_targets(struct json *json, const struct job *j)
{
	uint64_t elapsed_ms = 0, recorded_bytes = 0, trace_bytes = 0;

	json_begin_list(json, "targets");
	for (size_t i = 0; i < j->n_targets; i++) {
		const struct job_target *t = &j->targets[i];

		write_target(json, t);
		elapsed_ms = t->elapsed_ms > elapsed_ms ? t->elapsed_ms : elapsed_ms;
		recorded_bytes += t->recorded_bytes;
		trace_bytes += t->trace_bytes;
	}
	json_end_list(json);
	json_uint(json, "elapsed_ms", elapsed_ms);
	json_uint(json, "recorded_bytes", recorded_bytes);
	json_uint(json, "trace_bytes", trace_bytes);
}

static void write_files(struct json *json, const struct job *j)
{
	json_known_text(json, "run", j->run);
	json_begin_list(json, "files");
	for (size_t i = 0; i < j->n_targets; i++)
		if (j->targets[i].file[0])
			json_text(json, NULL, j->targets[i].file);
	json_end_list(json);
}

static void write_failure(struct json *json, const struct job *j)
{
	if (!j->error[0]) {
		json_nothing(json, "error");
	} else {
		json_begin_object(json, "error");
		json_text(json, "code", rpc_status_name(j->status));
		json_text(json, "message", j->error);
		json_end_object(json);
	}
	json_begin_list(json, "warnings");
	for (size_t i = 0; i < j->request.n_warnings; i++)
		json_text(json, NULL, j->request.warnings[i]);
	for (size_t i = 0; i < j->n_warnings; i++)
		json_text(json, NULL, j->warnings[i]);
	json_end_list(json);
}

void job_write_json(const struct job *j, struct json *json)
{
	json_uint(json, "id", j->id);
	json_text(json, "state", state_names[j->state]);
	json_bool(json, "is_over", job_is_over(j));
	user_json_write(json, j->caller.uid);
	write_request(json, &j->request);
	write_time(json, "created_unix_ms", j, j->created_ns);
	write_time(json, "started_unix_ms", j, j->started_ns);
	write_time(json, "ended_unix_ms", j, j->ended_ns);
	write_targets(json, j);
	write_files(json, j);
	write_failure(json, j);
}

char *job_format(const struct job *j)
{
	struct json_text text;

	if (json_text_begin(&text))
		return NULL;
	job_write_json(j, &text.json);
	return json_text_end(&text, NULL);
}

/* --- notes of the capture's thread ------------------------------------------------------------ */

static void job_lock(struct job *job)
{
	pthread_mutex_lock(&job->jobs->mutex);
}

static void job_unlock(struct job *job)
{
	pthread_mutex_unlock(&job->jobs->mutex);
}

void job_note_begin(struct job *job)
{
	job_lock(job);
	job->started_ns = monotonic_ns();
	jobs_tell(job->jobs, job);
	job_unlock(job);
}

/* The caller of each function before job_note_progress() has the mutex. */

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

/* The job is as far as its slowest program that is not over; if all are over: collecting. */
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

static bool note_all_progress(struct job *job, const struct ensemble *e, bool is_due)
{
	enum job_state state;
	bool is_new;

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

bool job_note_progress(struct job *job, const struct ensemble *e, bool is_due)
{
	bool is_told;

	job_lock(job);
	is_told = note_all_progress(job, e, is_due);
	job_unlock(job);
	return is_told;
}

/* The program's server knows the start of the recording best. */
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

void job_note_outcome(struct job *job, const struct ensemble *e)
{
	job_lock(job);
	for (size_t i = 0; i < e->group.n; i++)
		note_outcome(job, &job->targets[i], &e->group.members[i]);
	job->state = JOB_WRITING;
	jobs_tell(job->jobs, job);
	job_unlock(job);
}

void job_note_end(struct job *job, enum job_state state, int status, const char *format, ...)
{
	va_list args;

	job_lock(job);
	job->state = state;
	job->status = status;
	job->ended_ns = monotonic_ns();
	if (format) {
		va_start(args, format);
		vsnprintf(job->error, sizeof job->error, format, args);
		va_end(args);
		/* The error contains names that programs' users chose. */
		printable_clean(job->error);
	}
	log_info(LOG_CAPTURE, "capture %" PRIu64 " of uid %u: %zu programs, run %s: %s", job->id,
		job->caller.uid, job->n_targets, job->run[0] ? job->run : "none",
		job->error[0] ? job->error : "done");
	jobs_tell(job->jobs, job);
	job_unlock(job);
}
