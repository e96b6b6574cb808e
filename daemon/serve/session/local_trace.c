/* SPDX-License-Identifier: Apache-2.0 */
/* Traces that the program itself starts; see local_trace.h. */
#include "daemon/serve/session/local_trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/futex.h"
#include "base/log.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/pipeline/recording/capture_request.h"
#include "daemon/serve/session/session.h"
#include "daemon/serve/session/session_request.h"
#include "daemon/target/rights.h"
#include "daemon/target/target.h"

const char local_trace_busy_text[] =
	"a capture is being recorded; start the trace when it has ended";

static bool has_state(const struct target *t, enum arena_trace_state state)
{
	return atomic_load(&t->arena->trace.state) == state;
}

static void set_state(struct target *t, enum arena_trace_state state)
{
	atomic_store(&t->arena->trace.state, state);
	futex_wake(&t->arena->trace.state, INT32_MAX);
}

static void answer_program(struct target *t, int result, const char *text)
{
	struct arena_trace *trace = &t->arena->trace;

	snprintf(trace->message, sizeof trace->message, "%s", text);
	atomic_store(&trace->result, result);
	set_state(t, ARENA_TRACE_DONE);
}

bool local_trace_is_asked(const struct target *t)
{
	return has_state(t, ARENA_TRACE_ASKED);
}

/* Returns true if the request was taken. The program may have given up meanwhile. */
static bool take_request(struct target *t)
{
	uint32_t asked = ARENA_TRACE_ASKED;

	return atomic_compare_exchange_strong(&t->arena->trace.state, &asked, ARENA_TRACE_TAKEN);
}

void local_trace_refuse(struct target *t)
{
	if (local_trace_is_asked(t) && take_request(t))
		answer_program(t, -EBUSY, local_trace_busy_text);
}

/* --- options ---------------------------------------------------------------------------------- */

static int set_option(struct session_request *request, const char *line, struct diag *d)
{
	int r = profile_options_parse(&request->capture.options, line, d);

	return r == OPTION_NOTED ? capture_request_warn(&request->capture, d->text) : r;
}

static int set_options(struct session_request *request, char *text, struct diag *d)
{
	char *rest = NULL;
	int r = 0;

	for (char *line = strtok_r(text, "\n", &rest); line && !r;
		line = strtok_r(NULL, "\n", &rest))
		r = set_option(request, line, d);
	if (!r && profile_options_get_number(&request->capture.options, "profile_subprocesses", 0))
		r = capture_request_warn(&request->capture,
			"profile_subprocesses: ignored: a trace that the program starts itself has "
			"no other programs");
	if (!r && profile_options_get_number(&request->capture.options, "ptap_machine_usage", 0))
		r = capture_request_warn(&request->capture, SESSION_REQUEST_NO_MACHINE_USAGE);
	return r ? r : profile_options_check_recording(&request->capture.options, d);
}

/*
 * A duration of 0 means until the stop. A delay that overflows means that the trace never starts.
 */
static void set_times(struct profile_options *o)
{
	uint64_t now_ns = (uint64_t)realtime_ns();

	if (!o->duration_ms)
		o->duration_ms = UINT64_MAX;
	if (o->delay_ms > (UINT64_MAX - now_ns) / NS_PER_MS)
		o->start_timestamp_ns = UINT64_MAX;
	else if (o->delay_ms)
		o->start_timestamp_ns = now_ns + o->delay_ms * (uint64_t)NS_PER_MS;
}

/* --- the run ---------------------------------------------------------------------------------- */

void local_trace_name_host(const struct target *t, char host[LOCAL_TRACE_HOST_BYTES])
{
	char hostname[128] = "localhost";

	gethostname(hostname, sizeof hostname - 1);
	if (t->arena->port)
		snprintf(host, LOCAL_TRACE_HOST_BYTES, "%s_%u", hostname, t->arena->port);
	else
		snprintf(host, LOCAL_TRACE_HOST_BYTES, "%s_%s_%d", hostname, t->name, (int)t->pid);
}

static void set_host(struct local_trace *trace, const struct profile_options *o)
{
	const char *asked = profile_options_get_text(o, "override_hostname");

	if (asked && *asked)
		snprintf(trace->host, sizeof trace->host, "%s", asked);
	else
		local_trace_name_host(trace->target, trace->host);
}

static int open_place(
	struct local_trace *trace, const char *log_dir, const char *session_id, struct diag *d)
{
	int r;

	if (log_dir[0] != '/')
		return diag_set(
			d, -EINVAL, "log directory \"%.200s\": not an absolute path", log_dir);
	if (trace->target->is_foreign)
		return diag_set(d, -EACCES, "%s", rights_foreign_text);
	r = rights_check("", trace->target->pid, d);
	if (!r)
		r = run_dir_open(&trace->dir, log_dir, session_id[0] ? session_id : NULL,
			realtime_ns() / NS_PER_S, d);
	return r ? r : run_dir_check_free(&trace->dir, trace->host, d);
}

static struct local_trace *new_trace(struct target *t)
{
	struct local_trace *trace = calloc(1, sizeof *trace);

	if (!trace)
		return NULL;
	trace->target = t;
	trace->dir = (struct run_dir)RUN_DIR_INIT;
	return trace;
}

struct local_trace *local_trace_free(struct local_trace *trace)
{
	if (trace)
		run_dir_close(&trace->dir);
	free(trace);
	return NULL;
}

static void deliver_trace(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	local_trace_end(request->trace, r, result, d);
	delivery_free(result->delivery);
}

static int fill_request(struct session_request *request, struct target *t, struct diag *d)
{
	char options[sizeof t->arena->trace.options];
	char log_dir[sizeof t->arena->trace.log_dir];
	int r;

	memcpy(options, t->arena->trace.options, sizeof options);
	memcpy(log_dir, t->arena->trace.log_dir, sizeof log_dir);
	options[sizeof options - 1] = log_dir[sizeof log_dir - 1] = '\0';
	profile_options_init(&request->capture.options);
	request->deliver = deliver_trace;
	request->trace = new_trace(t);
	r = request->trace ? set_options(request, options, d) : -ENOMEM;
	if (r)
		return r;
	set_times(&request->capture.options);
	request->capture.start_ns =
		capture_find_start_ns(request->capture.options.start_timestamp_ns);
	set_host(request->trace, &request->capture.options);
	r = open_place(request->trace, log_dir, request->capture.options.session_id, d);
	return r ? r
		 : options_echo(&request->capture.options, log_dir, &request->capture.options_bytes,
			   &request->capture.n_options_bytes);
}

int local_trace_take(struct target *t, struct session_request **out, struct diag *d)
{
	struct session_request *request;
	int r;

	if (!take_request(t))
		return diag_set(d, -ECANCELED, "the program has given up");
	request = calloc(1, sizeof *request);
	r = request ? fill_request(request, t, d) : -ENOMEM;
	if (!r) {
		*out = request;
		return 0;
	}
	if (r == -ENOMEM)
		diag_set(d, r, "the profiler server is out of memory");
	answer_program(t, r, d->text);
	session_request_free(request);
	return r;
}

void local_trace_begin(struct local_trace *trace)
{
	if (has_state(trace->target, ARENA_TRACE_TAKEN))
		set_state(trace->target, ARENA_TRACE_RUNNING);
}

bool local_trace_is_ending(const struct local_trace *trace)
{
	return has_state(trace->target, ARENA_TRACE_ENDING);
}

static int publish_trace(struct local_trace *trace, struct delivery *delivery, struct diag *d)
{
	char *path = NULL;
	int r = delivery_write(delivery, &trace->dir, d);

	if (!r)
		r = run_dir_publish(&trace->dir, trace->host, &path, d);
	if (!r)
		log_info(LOG_TRACE, "trace of pid %d: %s", (int)trace->target->pid, path);
	free(path);
	return r;
}

static int explain_outcome(int r, struct diag *d)
{
	switch (r) {
	case CAPTURE_NO_TARGET:
	case CAPTURE_CANCELLED:
		return diag_set(d, -ESRCH, "%s", session_gone_text);
	case -ENOMEM:
		return diag_set(d, r, "the profiler server is out of memory; record less");
	default:
		return r;
	}
}

void local_trace_end(
	struct local_trace *trace, int r, const struct capture_result *result, struct diag *d)
{
	if (!r && result->is_empty)
		r = diag_set(d, -ENODATA,
			"the trace was empty and is not written: no annotation of its level was "
			"reached, and there are no samples of usage");
	else if (!r)
		r = publish_trace(trace, result->delivery, d);
	else
		r = explain_outcome(r, d);
	/* If the program is gone, the failure is reported only here, in the journal. */
	if (r)
		log_warn(LOG_TRACE, "trace of pid %d: %s", (int)trace->target->pid, d->text);
	/* An unpublished file is removed before the program looks for it. */
	run_dir_close(&trace->dir);
	answer_program(trace->target, r, r ? d->text : "");
}
