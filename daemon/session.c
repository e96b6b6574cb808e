/* SPDX-License-Identifier: Apache-2.0 */
/* The one capture at a time; see session.h. */
#include "daemon/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/log.h"
#include "daemon/capture.h"
#include "daemon/delivery.h"
#include "daemon/family.h"
#include "daemon/local_trace.h"
#include "daemon/reply.h"
#include "daemon/rings.h"
#include "daemon/session_request.h"
#include "daemon/target.h"
#include "rpc/server.h"

/* After the last capture the rings' memory is given back. */
#define KEEP_RINGS_NS (10 * NS_PER_S)
#define DEFAULT_USAGE_INTERVAL_MS 100

const char session_gone_text[] = "the program has ended";

static void free_request(struct session_request *request)
{
	session_request_deinit(request);
	free(request);
}

void session_init(struct session *s, struct family *family, void (*on_gone)(void *), void *context)
{
	memset(s, 0, sizeof *s);
	s->family = family;
	s->on_gone = on_gone;
	s->context = context;
	pthread_mutex_init(&s->mutex, NULL);
}

/*
 * The worker may be between its last look at the flags and going to sleep: then nobody is woken, and it
 * is tried again until it was. One that is at work, which can take long, looks before it sleeps.
 */
static void wake_worker(struct session *s)
{
	while (atomic_load(&s->is_waiting) && !target_kick(s->family->main) &&
		atomic_load(&s->is_pending))
		usleep(50);
}

/* Makes |request| the one that runs. */
static int occupy(struct session *s, struct session_request *request)
{
	if (atomic_load(&s->is_closing))
		return SESSION_CLOSED;
	if (s->request)
		return SESSION_BUSY;
	request->taken_ns = monotonic_ns();
	s->request = request;
	atomic_store(&s->stop, 0);
	atomic_store(&s->cancel, 0);
	atomic_store(&s->is_pending, request->call != NULL);
	return 0;
}

int session_take(struct session *s, struct session_request *request)
{
	int r;

	pthread_mutex_lock(&s->mutex);
	r = occupy(s, request);
	pthread_mutex_unlock(&s->mutex);
	if (r)
		free_request(request);
	else
		wake_worker(s);
	return r;
}

void session_describe(struct session *s, char *text, size_t n)
{
	const struct session_request *request;

	text[0] = '\0';
	pthread_mutex_lock(&s->mutex);
	request = s->request;
	if (request && request->trace)
		snprintf(text, n, "a trace of the program's own, begun %.1f s ago",
			(double)(monotonic_ns() - request->taken_ns) / 1e9);
	else if (request)
		snprintf(text, n, "session %s: %.1f s, begun %.1f s ago",
			request->session_id ? request->session_id : "without a name",
			(double)request->options.duration_ms / 1e3,
			(double)(monotonic_ns() - request->taken_ns) / 1e9);
	pthread_mutex_unlock(&s->mutex);
}

/* Raises |flag| under the mutex; a recording looks at it at least every 10 ms. */
static void raise_flag(struct session *s, _Atomic int *flag)
{
	atomic_store(flag, 1);
	target_kick(s->family->main);
}

void session_terminate(struct session *s, const char *session_id)
{
	pthread_mutex_lock(&s->mutex);
	if (s->request && s->request->session_id && strcmp(s->request->session_id, session_id) == 0)
		raise_flag(s, &s->stop);
	pthread_mutex_unlock(&s->mutex);
}

int session_is_busy(struct session *s)
{
	int is_busy;

	pthread_mutex_lock(&s->mutex);
	is_busy = s->request != NULL;
	pthread_mutex_unlock(&s->mutex);
	return is_busy;
}

void session_cancel(struct session *s, const struct rpc_call *call)
{
	pthread_mutex_lock(&s->mutex);
	if (s->request && s->request->call == call)
		raise_flag(s, &s->cancel);
	pthread_mutex_unlock(&s->mutex);
}

static void answer_call(const struct session_request *request, int r, struct capture_result *result,
	const struct diag *d)
{
	switch (r) {
	case 0:
		reply_profile(request->call, result, request->emit_xspace);
		break;
	case CAPTURE_CANCELLED:
		rpc_call_fail(request->call, RPC_CANCELLED, "the client went away");
		break;
	case CAPTURE_NO_TARGET:
		rpc_call_fail(request->call, RPC_UNAVAILABLE, session_gone_text);
		break;
	case -ENOMEM:
		rpc_call_fail(request->call, RPC_RESOURCE_EXHAUSTED,
			"the profiler server is out of memory; record less");
		break;
	default:
		rpc_call_fail(request->call, RPC_UNAVAILABLE, d->text);
		break;
	}
}

/* The session is free before the answer is sent: a client may ask again at once. */
static void release(struct session *s)
{
	pthread_mutex_lock(&s->mutex);
	s->request = NULL;
	pthread_mutex_unlock(&s->mutex);
}

static void answer(
	const struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	if (request->call) {
		answer_call(request, r, result, d);
		return;
	}
	local_trace_end(request->trace, r, result, d);
	delivery_free(result->delivery);
}

static void on_begin(void *context)
{
	struct session *s = context;

	if (s->request->trace)
		local_trace_begin(s->request->trace);
}

/* The program may want its trace to end, or to begin one now. */
static void on_look(void *context)
{
	struct session *s = context;

	if (s->request->trace && local_trace_is_ending(s->request->trace))
		atomic_store(&s->stop, 1);
	local_trace_refuse(s->family->main);
}

static void on_gone(void *context)
{
	struct session *s = context;

	s->on_gone(s->context);
}

static void run_capture(struct session *s)
{
	struct session_request *request = s->request;
	struct capture_request capture = {
		.level = request->options.host_tracer_level,
		.duration_ms = request->options.duration_ms,
		.start_timestamp_ns = request->options.start_timestamp_ns,
		.max_bytes = (uint64_t)profile_options_get_number(&request->options,
			"ptap_max_capture_bytes", (int64_t)s->family->main->max_capture_bytes),
		.usage_interval_ms = profile_options_get_number(
			&request->options, "ptap_usage_interval_ms", DEFAULT_USAGE_INTERVAL_MS),
		.options = request->options_bytes,
		.options_bytes = request->n_options_bytes,
		.warnings = (const char *const *)request->warnings,
		.n_warnings = request->n_warnings,
		.stop = &s->stop,
		.cancel = &s->cancel,
		.on_begin = on_begin,
		.on_look = on_look,
		.on_gone = on_gone,
		.context = s,
	};
	struct capture_result result;
	struct diag d = DIAG_INIT;
	int r;

	r = capture_run(s->family, &capture, &result, &d);
	release(s);
	answer(request, r, &result, &d);
	free_request(request);
}

/* What the program itself asked for. */
static void run_local_trace(struct session *s)
{
	struct session_request *request = NULL;
	struct diag d = DIAG_INIT;
	int r = local_trace_take(s->family->main, &request, &d);

	if (r) {
		log_info(LOG_TRACE, "%s", d.text);
		return;
	}
	pthread_mutex_lock(&s->mutex);
	r = occupy(s, request);
	pthread_mutex_unlock(&s->mutex);
	if (!r) {
		run_capture(s);
		return;
	}
	/* A call came first. */
	diag_set(&d, -EBUSY, "%s", local_trace_busy_text);
	local_trace_end(request->trace, -EBUSY, NULL, &d);
	free_request(request);
}

void session_close(struct session *s)
{
	struct session_request *request;

	pthread_mutex_lock(&s->mutex);
	atomic_store(&s->is_closing, 1);
	atomic_store(&s->is_pending, 0);
	request = s->request;
	s->request = NULL;
	pthread_mutex_unlock(&s->mutex);
	if (!request)
		return;
	rpc_call_fail(request->call, RPC_UNAVAILABLE, session_gone_text);
	free_request(request);
}

static void trim(struct family *f)
{
	rings_trim(f->main);
	for (size_t i = 0; i < f->n_children; i++)
		rings_trim(&f->children[i]->target);
}

/* Between captures: children that joined or ended. */
static void tend_family(struct family *f)
{
	if (!atomic_load(&f->has_news))
		return;
	family_admit(f);
	family_greet(f);
	family_prune(f);
}

/* The rings stay warm for a while: captures often come in a row. */
static void wait_for_work(struct session *s, int64_t *trim_at_ns)
{
	atomic_store(&s->is_waiting, 1);
	if (!atomic_load(&s->is_pending))
		target_wait(s->family->main, *trim_at_ns);
	atomic_store(&s->is_waiting, 0);
	if (monotonic_ns() < *trim_at_ns || atomic_load(&s->is_pending))
		return;
	trim(s->family);
	*trim_at_ns = INT64_MAX;
}

void session_work(struct session *s)
{
	int64_t trim_at_ns = INT64_MAX;

	while (target_get_life(s->family->main) == TARGET_ALIVE) {
		tend_family(s->family);
		if (atomic_exchange(&s->is_pending, 0)) {
			run_capture(s);
			trim_at_ns = monotonic_ns() + KEEP_RINGS_NS;
		} else if (local_trace_is_asked(s->family->main)) {
			run_local_trace(s);
			trim_at_ns = monotonic_ns() + KEEP_RINGS_NS;
		} else {
			wait_for_work(s, &trim_at_ns);
		}
	}
	s->on_gone(s->context);
	session_close(s);
}
