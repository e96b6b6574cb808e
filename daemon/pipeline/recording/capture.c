/* SPDX-License-Identifier: Apache-2.0 */
/* One recording; see capture.h. */
#include "daemon/pipeline/recording/capture.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/kernel/headroom.h"
#include "daemon/pipeline/assembly/encode.h"
#include "daemon/pipeline/recording/capture_begin.h"
#include "daemon/pipeline/recording/capture_trace.h"
#include "daemon/pipeline/recording/progress.h"
#include "daemon/pipeline/recording/recording.h"
#include "daemon/pipeline/recording/snapshots.h"
#include "daemon/target/family.h"
#include "daemon/target/target.h"
#include "trace/model/space.h"

#define DEFAULT_MAX_BYTES (UINT64_C(1) << 30)
/* Of a session that goes on meanwhile: its own slots besides, and the joined ones. */
#define BYTES_PER_KEPT_SLOT_BYTE (RECORDING_BYTES_PER_SLOT_BYTE + 2)
/*
 * The drain's period: a quarter of the time in which the fastest ring fills, within these. After a quiet
 * stretch a burst comes without notice: 100 ms lost a third of 2 M spans/s, 10 ms nothing.
 */
#define MIN_PERIOD_NS NS_PER_MS
#define MAX_PERIOD_NS (10 * NS_PER_MS)

/* The next visit comes when the fastest ring will be a quarter full, judged by this one. */
static int64_t next_period(int64_t period, unsigned fullest)
{
	int64_t next = fullest ? period * 250 / fullest : period * 2;

	if (next > period * 2)
		next = period * 2;
	if (next < MIN_PERIOD_NS)
		return MIN_PERIOD_NS;
	return next < MAX_PERIOD_NS ? next : MAX_PERIOD_NS;
}

static int64_t end_time(const struct capture *c)
{
	uint64_t ms = c->request->duration_ms;

	if (c->is_unbegun)
		return c->recording.start.monotonic_ns + 1;
	return clock_add_ns(c->recording.start.monotonic_ns,
		ms > UINT64_MAX / NS_PER_MS ? UINT64_MAX : ms * (uint64_t)NS_PER_MS);
}

static void note(struct capture *c)
{
	const struct drain_budget *budget = &c->recording.budget;
	uint64_t held = budget->sink ? budget->sink->count_held_bytes(budget->sink) : 0;

	progress_note(c->request->progress, budget->used_bytes + budget->given_bytes,
		budget->given_bytes - held);
}

static void record(struct capture *c)
{
	int64_t end = c->recording.end_ns;
	int64_t period = MIN_PERIOD_NS;

	recording_look_at_halt(&c->recording);
	while (!capture_is_over(c)) {
		int64_t now = monotonic_ns();

		if (now >= end)
			break;
		target_wait(c->target, now + period < end ? now + period : end);
		period = next_period(period, recording_visit(&c->recording));
		note(c);
		if (monotonic_ns() - c->recording.halt_looked_ns >= RECORDING_HALT_LOOK_NS)
			recording_look_at_halt(&c->recording);
		if (c->request->keeps_newest && monotonic_ns() < end)
			snapshots_visit(&c->snapshots);
	}
	recording_look_at_halt(&c->recording);
}

static int end_recording(struct capture *c)
{
	int r = recording_end(&c->recording);

	if (r != -ETIMEDOUT)
		return r;
	c->recording.is_halted = true;
	return 0;
}

static int run(struct capture *c, struct capture_result *result, struct diag *d)
{
	int r = capture_begin(c, d);

	if (r)
		return r;
	if (c->request->keeps_newest)
		snapshots_init(&c->snapshots, &c->trace, c->max_bytes / BYTES_PER_KEPT_SLOT_BYTE);
	c->request->on_begin(c->request->context);
	c->recording.end_ns = end_time(c);
	progress_begin(c->request->progress, c->recording.start.monotonic_ns, c->recording.end_ns);
	record(c);
	snapshots_settle(&c->snapshots);
	if (capture_is_gone(c))
		c->request->on_gone(c->request->context);
	r = end_recording(c);
	if (c->is_unbegun && capture_is_gone(c))
		return CAPTURE_NO_TARGET;
	progress_end(c->request->progress, c->recording.stop.monotonic_ns);
	if (atomic_load(c->request->cancel))
		return CAPTURE_CANCELLED;
	if (!r)
		r = c->request->keeps_newest ? snapshots_end(&c->snapshots, result)
					     : capture_trace_make(&c->trace, result);
	return r == -ECANCELED ? CAPTURE_CANCELLED : r;
}

uint64_t capture_find_max_bytes(uint64_t bytes, struct headroom *h)
{
	uint64_t quarter;

	if (bytes)
		return bytes;
	quarter = headroom_read(h, "", monotonic_ns()) / 4;
	return quarter < DEFAULT_MAX_BYTES ? quarter : DEFAULT_MAX_BYTES;
}

int capture_run(struct family *f, const struct capture_request *request,
	struct capture_result *result, struct diag *d)
{
	struct capture c = {.target = f->main, .request = request};
	int r;

	memset(result, 0, sizeof *result);
	c.trace = (struct capture_trace){
		.request = request, .target = f->main, .recording = &c.recording};
	if (space_new(&c.trace.space))
		return -ENOMEM;
	family_prune(f);
	c.max_bytes = capture_find_max_bytes(request->max_bytes, &f->headroom);
	recording_init(&c.recording, f, c.max_bytes, request->window_bytes);
	if (request->keeps_newest)
		recording_set_unlimited(&c.recording);
	r = capture_set_devices(&c);
	if (!r)
		r = run(&c, result, d);
	snapshots_deinit(&c.snapshots);
	recording_deinit(&c.recording);
	family_prune(f);
	space_free(c.trace.space);
	return r;
}

void capture_result_note_taken(const struct capture_result *result)
{
	if (result->on_taken)
		result->on_taken(result->on_taken_context);
}

int capture_make_unbegun(struct capture_result *result)
{
	struct encode_request request = {.spool = NULL};
	struct space *space;
	uint64_t n_left_out;
	int r;

	memset(result, 0, sizeof *result);
	result->is_empty = true;
	if (space_new(&space))
		return -ENOMEM;
	r = space_add_warning(space, "nothing was recorded: it was ended before its start");
	request.space = space;
	if (!r)
		r = encode(&request, &result->delivery, &n_left_out);
	space_free(space);
	return r;
}
