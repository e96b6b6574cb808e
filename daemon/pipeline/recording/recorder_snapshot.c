/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots of the flight recorder; see recorder_snapshot.h. */
#include "daemon/pipeline/recording/recorder_snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/profile_options.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/pipeline/recording/capture_request.h"
#include "daemon/pipeline/recording/capture_trace.h"
#include "daemon/pipeline/recording/recorder.h"
#include "daemon/pipeline/recording/recording_cut.h"
#include "daemon/target/family.h"
#include "trace/model/space.h"

/* The caller calls capture_request_deinit() in any case. */
static int fill_request(struct capture_request *request, const struct recorder_snapshot *s)
{
	const struct recorder_wish *wish = &s->wish;
	int r;

	*request = (struct capture_request){
		.options.host_tracer_level = s->part->level,
		.max_xspace_bytes = wish->max_xspace_bytes,
		.reason = wish->reason,
	};
	r = options_echo(
		&request->options, NULL, &request->options_bytes, &request->n_options_bytes);
	/* Suppresses the warning that the program ended: that is expected, or in |warning|. */
	request->options.duration_ms = PROFILE_TO_THE_END_MS;
	return r || !wish->warning ? r : capture_request_warn(request, wish->warning);
}

/* Adds samples, starts the part at its first record, and limits its slots in memory. */
static void prepare_part(struct recorder_snapshot *s)
{
	int64_t samples_ns = recorder_add_samples(s->recorder, s->wish.last_ms, s->part);

	if (s->part->timeline.n_pairs)
		part_origin_set(s->part, samples_ns);
	s->part->budget.window_bytes = s->part->part_window_bytes;
}

static int make_trace(struct recorder_snapshot *s, struct capture_result *result)
{
	static const _Atomic int never;
	const struct capture_control control = {.cancel = &never};
	struct capture_request request;
	struct capture_trace t = {
		.request = &request,
		.control = &control,
		.target = s->recorder->family->main,
		.recording = s->part,
		.level = s->part->level,
	};
	int r = fill_request(&request, s);

	prepare_part(s);
	if (!r)
		r = space_new(&t.space);
	if (!r)
		r = capture_trace_make(&t, result);
	space_free(t.space);
	capture_request_deinit(&request);
	return r;
}

static void make_snapshot(struct recorder_snapshot *s)
{
	struct capture_result result;
	struct diag d = DIAG_INIT;
	int r;

	memset(&result, 0, sizeof result);
	r = make_trace(s, &result);
	recording_part_deinit(s->part);
	free(s->part);
	s->part = NULL;
	s->wish.deliver(s->wish.context, r, &result, &d);
}

static void *run_maker(void *argument)
{
	struct recorder_snapshot *s = argument;

	make_snapshot(s);
	atomic_store(&s->is_made, 1);
	if (s->on_made)
		s->on_made(s->context);
	return NULL;
}

void recorder_snapshot_wait(struct recorder_snapshot *s)
{
	if (!s->has_maker)
		return;
	pthread_join(s->maker, NULL);
	s->has_maker = false;
	s->recorder->is_lent = false;
}

bool recorder_snapshot_is_ready(struct recorder_snapshot *s)
{
	if (s->has_maker && !atomic_load(&s->is_made))
		return false;
	recorder_snapshot_wait(s);
	return true;
}

static void fail_wish(const struct recorder_wish *wish)
{
	struct capture_result nothing = {.is_empty = 0};
	struct diag d = DIAG_INIT;

	wish->deliver(wish->context, -ENOMEM, &nothing, &d);
}

void recorder_snapshot_take(
	struct recorder_snapshot *s, struct recorder *r, const struct recorder_wish *wish)
{
	s->recorder = r;
	s->wish = *wish;
	s->part = malloc(sizeof *s->part);
	if (!s->part) {
		fail_wish(wish);
		return;
	}
	/* Result ignored: if records are missing, the trace has a warning. */
	recorder_cut(r, wish->last_ms, s->part);
	atomic_store(&s->is_made, 0);
	s->has_maker = pthread_create(&s->maker, NULL, run_maker, s) == 0;
	r->is_lent = s->has_maker;
	if (s->has_maker)
		pthread_setname_np(s->maker, "ptap-maker");
	else
		make_snapshot(s);
}
