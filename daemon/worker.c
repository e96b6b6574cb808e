/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's loop; see worker.h. */
#include "daemon/worker.h"

#include <errno.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/log.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/drain/rings.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/calls/continuous_session.h"
#include "daemon/serve/session/arming.h"
#include "daemon/serve/session/local_trace.h"
#include "daemon/serve/session/recorder_end.h"
#include "daemon/serve/session/recorder_work.h"
#include "daemon/serve/session/session.h"
#include "daemon/serve/session/session_request.h"
#include "daemon/target/family.h"
#include "daemon/target/target.h"

/*
 * The time until the rings' memory is given back, counted from the last capture or the flight
 * recorder's end.
 */
#define KEEP_RINGS_NS (10 * NS_PER_S)

static void capture_on_begin(void *context)
{
	struct session *s = context;

	if (s->request->trace)
		local_trace_begin(s->request->trace);
	if (!s->request->begin)
		return;
	s->request->begin(s->request, session_note_begun(s));
	s->request->begin = NULL;
}

static void *capture_next_snapshot(void *context)
{
	return session_next_snapshot(context);
}

static void capture_deliver_snapshot(
	void *snapshot, int r, struct capture_result *result, struct diag *d)
{
	struct session_request *request = snapshot;

	request->deliver(request, r, result, d);
	session_request_free(request);
}

/* Delivers the result of a continuous session that has begun to the request that ended it. */
static void continuous_deliver_rest(
	struct session_request *stopper, int r, struct capture_result *result, struct diag *d)
{
	if (stopper)
		capture_deliver_snapshot(stopper, r, result, d);
	else
		delivery_free(result->delivery);
}

/*
 * Handles the program's requests to end its trace or to begin one now, and captures that are due.
 */
static void capture_on_poll(void *context)
{
	struct session *s = context;

	if (s->request->trace && local_trace_is_ending(s->request->trace))
		atomic_store(&s->stop, 1);
	if (!s->request->yields)
		local_trace_refuse(s->family->main);
	else if (local_trace_is_asked(s->family->main))
		atomic_store(&s->stop, 1);
	session_tend(s);
	recorder_work_poll(s, 1);
}

static void worker_note_gone(void *context)
{
	struct session *s = context;

	target_await_end(s->family->main);
	s->on_gone(s->context);
}

/*
 * Runs a capture. Releases the session before it sends the answer, because a client may send its
 * next request at once.
 */
static void worker_run_capture(struct session *s, struct session_request *request)
{
	const struct capture_control control = {
		.stop = &s->stop,
		.cancel = &s->cancel,
		.progress = request->progress,
		.on_begin = capture_on_begin,
		.on_poll = capture_on_poll,
		.on_gone = worker_note_gone,
		.next_snapshot = capture_next_snapshot,
		.deliver_snapshot = capture_deliver_snapshot,
		.context = s,
	};
	struct capture_result result;
	struct diag d = DIAG_INIT;
	int r = capture_run(s->family, &request->capture, &control, &result, &d);
	struct session_request *stopper;

	session_note_gpu(s, result.gpu);
	if (request->capture.keeps_newest && !request->begin && !r && recorder_end_keep(s, &result))
		return;
	stopper = session_release(s);
	if (request->capture.keeps_newest && !request->begin) {
		continuous_deliver_rest(stopper, r, &result, &d);
	} else {
		request->deliver(request, r, &result, &d);
		/* The end was requested before the session had begun. */
		request_list_tell(stopper, r ? r : CAPTURE_CANCELLED, d.text);
	}
	session_request_free(request);
}

/* Runs the trace that the program itself requested. */
static void worker_run_local_trace(struct session *s)
{
	struct session_request *request = NULL;
	struct diag d = DIAG_INIT;

	if (local_trace_take(s->family->main, &request, &d)) {
		log_info(LOG_TRACE, "%s", d.text);
		return;
	}
	if (!session_occupy(s, request)) {
		worker_run_capture(s, request);
		return;
	}
	/* A client's call occupied the session first. */
	diag_set(&d, -EBUSY, "%s", local_trace_busy_text);
	local_trace_end(request->trace, -EBUSY, NULL, &d);
	session_request_free(request);
}

static void family_trim_rings(struct family *f)
{
	rings_trim(f->main);
	for (size_t i = 0; i < f->n_children; i++)
		rings_trim(&f->children[i]->target);
}

/* Handles children that joined or ended, between two captures. */
static void worker_tend_family(struct session *s)
{
	if (family_handle_news(s->family))
		family_prune(s->family);
}

/* Keeps the rings' memory for a while, because captures often follow each other. */
static void worker_wait(struct session *s, int64_t due_ns, int64_t *trim_at_ns)
{
	int64_t until = due_ns < *trim_at_ns ? due_ns : *trim_at_ns;

	if (recorder_work_get_due(s) < until)
		until = recorder_work_get_due(s);
	atomic_store(&s->is_waiting, 1);
	if (!atomic_load(&s->is_pending))
		target_wait(s->family->main, until);
	atomic_store(&s->is_waiting, 0);
	if (monotonic_ns() < *trim_at_ns || atomic_load(&s->is_pending))
		return;
	family_trim_rings(s->family);
	*trim_at_ns = INT64_MAX;
}

void worker_run(struct session *s)
{
	int64_t trim_at_ns = INT64_MAX;

	target_rehearse_end(s->family->main);
	while (target_get_life(s->family->main) == TARGET_ALIVE) {
		struct session_request *request;
		int64_t poll_ns;
		int64_t due_ns;

		worker_tend_family(s);
		atomic_store(&s->is_pending, 0);
		poll_ns = arming_tend(s);
		due_ns = session_tend(s);
		recorder_work_poll(s, 0);
		/* An active recorder uses the rings; after its end they are no longer needed. */
		if (recorder_work_has_used_rings(s))
			trim_at_ns = monotonic_ns() + KEEP_RINGS_NS;
		request = session_get_request(s);
		if (request) {
			worker_run_capture(s, request);
			trim_at_ns = monotonic_ns() + KEEP_RINGS_NS;
		} else if (local_trace_is_asked(s->family->main)) {
			worker_run_local_trace(s);
			trim_at_ns = monotonic_ns() + KEEP_RINGS_NS;
		} else {
			worker_wait(s, due_ns < poll_ns ? due_ns : poll_ns, &trim_at_ns);
		}
	}
	worker_note_gone(s);
	session_close(s);
	recorder_end(s);
}
