/* SPDX-License-Identifier: Apache-2.0 */
/* The end of the flight recorder and of a continuous session; see recorder_end.h. */
#include "daemon/serve/session/recorder_end.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/futex.h"
#include "base/log.h"
#include "daemon/kernel/process_exit.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/assembly/spool.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/session/hold.h"
#include "daemon/serve/session/recorder_work.h"
#include "daemon/serve/session/session.h"
#include "daemon/serve/session/session_recorder.h"
#include "daemon/serve/session/session_request.h"
#include "daemon/target/family.h"
#include "daemon/target/target.h"

#define PIECE_BYTES 65536

/* The data that a continuous session left. */
struct session_rest {
	struct capture_result result; /* without the delivery */
	struct spool *spool; /* the trace */
};

static bool has_continuous_session(struct session *s)
{
	bool has;

	pthread_mutex_lock(&s->mutex);
	has = s->request && s->request->capture.keeps_newest;
	pthread_mutex_unlock(&s->mutex);
	return has;
}

bool recorder_end_holds(struct session *s)
{
	return target_get_life(s->family->main) == TARGET_DEAD &&
	       (atomic_load(&s->has_recorder) || has_continuous_session(s));
}

/* --- the session's data ----------------------------------------------------------------------- */

static int copy_trace(struct delivery *from, struct spool *to)
{
	uint8_t piece[PIECE_BYTES];
	ssize_t n;
	int r = 0;

	while (!r && (n = delivery_read(from, piece, sizeof piece)) != 0)
		r = n < 0 ? (int)n : spool_append_bytes(to, piece, (size_t)n);
	return r;
}

static struct session_rest *free_rest(struct session_rest *rest)
{
	if (rest)
		spool_release(rest->spool);
	free(rest);
	return NULL;
}

/* Copies the trace to a file, so that it can be sent again if a client goes away too early. */
static struct session_rest *new_rest(struct capture_result *result, int *error)
{
	struct session_rest *rest = calloc(1, sizeof *rest);
	struct diag d = DIAG_INIT;

	*error = rest ? spool_new(NULL, UINT64_MAX, &rest->spool, &d) : -ENOMEM;
	if (!*error)
		*error = copy_trace(result->delivery, rest->spool);
	if (*error)
		return free_rest(rest);
	rest->result = *result;
	rest->result.delivery = NULL;
	return rest;
}

static bool has_stopper(struct session *s)
{
	bool has;

	pthread_mutex_lock(&s->mutex);
	has = s->stopper != NULL;
	pthread_mutex_unlock(&s->mutex);
	return has;
}

bool recorder_end_keep(struct session *s, struct capture_result *result)
{
	int r;

	if (target_get_life(s->family->main) != TARGET_DEAD || result->is_empty || has_stopper(s))
		return false;
	s->rest = new_rest(result, &r);
	if (!s->rest) {
		log_warn(LOG_TARGET,
			"the session's data of pid %d cannot be held after its death: %s",
			(int)s->family->main->pid, errno_words(r));
		return false;
	}
	delivery_free(result->delivery);
	return true;
}

static struct session_request *next_heir(struct session *s)
{
	struct session_request *request;

	pthread_mutex_lock(&s->mutex);
	if (s->snapshots) {
		request = request_list_unlink(&s->snapshots);
	} else {
		request = s->stopper;
		s->stopper = NULL;
	}
	pthread_mutex_unlock(&s->mutex);
	return request;
}

static void note_rest_taken(void *context)
{
	struct session *s = context;

	atomic_store(&s->is_rest_taken, 1);
	session_nudge(s);
}

static void give_rest(struct session *s, struct session_request *request)
{
	struct capture_result result = s->rest->result;
	struct diag d = DIAG_INIT;
	int r = CAPTURE_CANCELLED;

	if (request->call && !session_recorder_may_inherit(s, request->call)) {
		request_list_tell(request, CAPTURE_NO_TARGET, session_gone_text);
		return;
	}
	if (request->discards)
		atomic_store(&s->is_rest_taken, 1);
	else
		r = delivery_new_from_file(s->rest->spool, &result.delivery);
	if (r)
		memset(&result, 0, sizeof result);
	if (!r && !request->keeps) {
		result.on_taken = note_rest_taken;
		result.on_taken_context = s;
	}
	request->deliver(request, r, &result, &d);
	session_request_free(request);
}

/* Ends the continuous session. Later requests for its data are refused. */
static void give_up_rest(struct session *s)
{
	struct session_request *request = s->request;

	s->rest = free_rest(s->rest);
	request_list_tell(session_release(s), CAPTURE_NO_TARGET, session_gone_text);
	session_request_free(request);
}

static void serve_rest(struct session *s)
{
	struct session_request *request;

	while (!atomic_load(&s->is_rest_taken) && (request = next_heir(s)))
		give_rest(s, request);
	if (atomic_load(&s->is_rest_taken))
		give_up_rest(s);
}

/* --- the recorder --------------------------------------------------------------------------- */

static void describe_how(const struct target *t, char *text, size_t size)
{
	char how[64];

	exit_status_describe(target_find_ending(t), how, sizeof how);
	if (t->is_another)
		snprintf(text, size, "became another program (execve)");
	else
		snprintf(text, size, "ended%s", how);
}

/*
 * Writes the reason and the warning of the run. The reason includes that of a ptap_snapshot() that
 * was not served: there the program may have said why it ends.
 */
static void describe_end(struct recorder_work *w)
{
	const struct target *t = w->session->family->main;
	char how[80];
	char why[160];
	char unwritten[160];
	bool has_why = recorder_work_take_why(w, why, sizeof why);

	trigger_scan_finish(&w->scan, &w->recorder);
	triggers_describe_unwritten(&w->scan.triggers, unwritten, sizeof unwritten);
	describe_how(t, how, sizeof how);
	snprintf(w->run.reason, sizeof w->run.reason, "the program (pid %d) %s%s%s", (int)t->pid,
		how, has_why ? ", after ptap_snapshot: " : "", has_why ? why : "");
	snprintf(w->run.warning, sizeof w->run.warning,
		"%s; these are its last moments, as the flight recorder had them%s%s",
		w->run.reason, unwritten[0] ? "; " : "", unwritten);
}

/* 0, or a negative errno: the run was not written. */
static int write_last_run(struct recorder_work *w)
{
	if (!recorder_run_has_place(&w->run))
		return -ENOENT;
	w->run.on_written = NULL;
	recorder_work_begin_run(w);
	recorder_snapshot_wait(&w->snapshot);
	return w->run.outcome;
}

static bool has_recorder_data(const struct recorder_work *w)
{
	return w && w->recorder.is_on &&
	       !(atomic_load(&w->session->is_inherited) && recorder_work_is_ready(w->session));
}

/*
 * Holds the data of the recorder, unless |w| is NULL, and of the session, and serves requests until
 * clients have taken both or the hold is over.
 */
static void hold_data(struct session *s, struct recorder_work *w)
{
	struct hold h;

	if (w)
		w->is_held = true;
	hold_init(
		&h, s->family->main, s->way, w && recorder_run_has_place(&w->run), monotonic_ns());
	while ((s->rest || has_recorder_data(w)) && !hold_is_over(&h, monotonic_ns())) {
		uint32_t news = atomic_load(&s->recorder_news);

		session_recorder_serve(s);
		if (s->rest)
			serve_rest(s);
		if (s->rest || has_recorder_data(w))
			futex_wait_until(&s->recorder_news, news, hold_get_due(&h, monotonic_ns()));
	}
	if (s->rest)
		give_up_rest(s);
	if (hold_mark_is_gone(&h.mark))
		log_info(LOG_TARGET,
			"the data of pid %d is no longer held: other programs have died since",
			(int)s->family->main->pid);
	hold_deinit(&h);
}

/* Writes the last run. Returns true if the data must be held instead. */
static bool save_recorder(struct recorder_work *w)
{
	recorder_snapshot_wait(&w->snapshot);
	recorder_work_is_ready(w->session);
	if (!w->recorder.is_on || target_get_life(w->session->family->main) != TARGET_DEAD)
		return false;
	recorder_freeze(&w->recorder);
	/*
	 * The data of an empty recorder is not held, because each command of a shell may have one.
	 */
	if (!recorder_has_content(&w->recorder))
		return false;
	describe_end(w);
	return write_last_run(w) != 0;
}

void recorder_end(struct session *s)
{
	struct recorder_work *w = s->recorder_work;
	bool is_left = w && save_recorder(w);
	struct session_request *late;

	if (w && !is_left)
		recorder_work_turn_off(w);
	if (is_left || s->rest)
		hold_data(s, is_left ? w : NULL);
	if (is_left) {
		recorder_snapshot_wait(&w->snapshot);
		recorder_work_turn_off(w);
	}
	pthread_mutex_lock(&s->mutex);
	late = s->recorder_requests;
	s->recorder_requests = NULL;
	pthread_mutex_unlock(&s->mutex);
	request_list_tell(late, CAPTURE_NO_TARGET, session_gone_text);
	if (w)
		recorder_deinit(&w->recorder);
	free(w);
	s->recorder_work = NULL;
}
