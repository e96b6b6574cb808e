/* SPDX-License-Identifier: Apache-2.0 */
/* One recording; see capture.h. */
#include "daemon/pipeline/recording/capture.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/clock.h"
#include "base/profile_options.h"
#include "daemon/kernel/headroom.h"
#include "daemon/pipeline/assembly/encode.h"
#include "daemon/pipeline/recording/capture_request.h"
#include "daemon/pipeline/recording/capture_trace.h"
#include "daemon/pipeline/recording/collect_options.h"
#include "daemon/pipeline/recording/collecting.h"
#include "daemon/pipeline/recording/collectors.h"
#include "daemon/pipeline/recording/progress.h"
#include "daemon/pipeline/recording/recording.h"
#include "daemon/pipeline/recording/recording_start.h"
#include "daemon/pipeline/recording/snapshots.h"
#include "daemon/target/family.h"
#include "daemon/target/target.h"
#include "lib/wire/arena.h"
#include "trace/model/space.h"

#define DEFAULT_MAX_BYTES (UINT64_C(1) << 30)
/* A session goes on while a trace is made: its own slots and those of join_part() exist, too. */
#define BYTES_PER_KEPT_SLOT_BYTE (RECORDING_BYTES_PER_SLOT_BYTE + 2)
/*
 * The drain's period is a quarter of the time in which the fastest ring fills, within these
 * bounds. After a quiet stretch a burst comes without notice: 100 ms lost a third of 2 M
 * spans/s, 10 ms nothing.
 */
#define MIN_PERIOD_NS NS_PER_MS
#define MAX_PERIOD_NS (10 * NS_PER_MS)

/*
 * The worker reads its flags this often, because it misses a wake-up that comes
 * just before it sleeps.
 */
#define POLL_INTERVAL_NS (50 * NS_PER_MS)
/*
 * The threads get the order to record this long before the agreed start. Two threads must be woken
 * for that, the worker and the program's ptap-control, and on a busy machine each waits 3 to 4 ms
 * for others. Records before the start are left out, so this is as short as possible: see
 * docs/internals/protocol.md.
 */
#define EARLY_NS (20 * NS_PER_MS)
/*
 * If the present clock puts the agreed start further than this from where it was at the request,
 * the clock was set meanwhile. Adjusting the clock's rate changes the time far less.
 */
#define MAX_DRIFT_NS (NS_PER_S / 2)
/* Short enough that no ring fills in this time. */
#define SKIP_INTERVAL_NS NS_PER_MS
/* Children do not wake the server when their collectors have begun, so it polls. */
#define COLLECTORS_POLL_NS (2 * NS_PER_MS)
#define DEFAULT_GPU_INTERVAL_MS 100
#define DEFAULT_USAGE_INTERVAL_MS 100
#define DEFAULT_SAMPLE_HZ 99

/* A capture that runs. */
struct running_capture {
	struct target *target; /* the program that started the server */
	const struct capture_request *request;
	const struct capture_control *control;
	struct recording recording;
	struct snapshots snapshots; /* of a session that keeps the newest */
	struct capture_trace trace;
	uint64_t max_bytes;
	bool is_unbegun; /* the capture was over before its start */
	char collect_options[sizeof((struct arena_collect *)0)->options];
};

/* --- before it records -------------------------------------------------------------------- */

/* True when the program is gone. */
static bool capture_is_gone(const struct running_capture *c)
{
	return target_get_life(c->target) != TARGET_ALIVE;
}

/* True when the capture must end. Calls on_poll(), which may raise the flags. */
static bool capture_is_over(const struct running_capture *c)
{
	if (capture_is_gone(c))
		return true;
	c->control->on_poll(c->control->context);
	return atomic_load(c->control->stop) || atomic_load(c->control->cancel) ||
	       capture_is_gone(c);
}

static int64_t convert_start(uint64_t start_timestamp_ns, int64_t unix_offset_ns)
{
	int64_t now_ns = monotonic_ns();
	uint64_t unix_now = (uint64_t)(now_ns + unix_offset_ns);
	int64_t at;

	if (!start_timestamp_ns)
		return 0;
	if (start_timestamp_ns > unix_now)
		return clock_add_ns(now_ns, start_timestamp_ns - unix_now);
	at = now_ns - (int64_t)(unix_now - start_timestamp_ns);
	return at > 0 ? at : 1;
}

int64_t capture_find_start_ns(uint64_t start_timestamp_ns)
{
	return convert_start(start_timestamp_ns, clock_find_unix_offset_ns());
}

int64_t capture_find_wait_ns(uint64_t start_timestamp_ns)
{
	int64_t wait_ns = capture_find_start_ns(start_timestamp_ns) - monotonic_ns();

	return wait_ns > 0 ? wait_ns : 0;
}

int64_t capture_find_arm_ns(const struct target *t, bool wants_devices)
{
	return wants_devices && atomic_load(&t->uses_device) ? CAPTURE_ARM_DEVICES_NS
							     : CAPTURE_ARM_NS;
}

/*
 * The agreed start by the present clock, whose rate may have changed. If the clock was set, the
 * start by the clock at the time of the request.
 */
static int64_t find_asked(const struct running_capture *c)
{
	int64_t was_ns = c->request->start_ns;
	int64_t is_ns =
		convert_start(c->request->options.start_timestamp_ns, c->recording.unix_offset_ns);

	return is_ns - was_ns < MAX_DRIFT_NS && was_ns - is_ns < MAX_DRIFT_NS ? is_ns : was_ns;
}

static void wait_until(struct running_capture *c, int64_t at)
{
	while (monotonic_ns() < at && !capture_is_over(c)) {
		int64_t poll_ns = monotonic_ns() + POLL_INTERVAL_NS;

		target_wait(c->target, at < poll_ns ? at : poll_ns);
	}
}

/* Sets the levels, or 0 if the capture is over before it begins. */
static void set_levels(struct running_capture *c)
{
	bool is_stopped = atomic_load(c->control->stop);

	c->trace.level = is_stopped ? 0 : c->request->options.host_tracer_level;
	c->recording.usage_interval_ms =
		is_stopped ? 0
			   : profile_options_get_number(&c->request->options,
				     "ptap_usage_interval_ms", DEFAULT_USAGE_INTERVAL_MS);
	if (is_stopped) {
		collectors_cancel(&c->recording);
		recording_samples_deinit(&c->recording);
	}
}

/* True while the records that collectors still have are wanted. */
static bool collectors_are_wanted(void *context)
{
	struct running_capture *c = context;

	if (!capture_is_gone(c))
		c->control->on_poll(c->control->context);
	return !atomic_load(c->control->cancel);
}

static void capture_set_samples(struct running_capture *c)
{
	c->recording.samples.rate_hz = (unsigned)profile_options_get_number(
		&c->request->options, "ptap_sample_hz", DEFAULT_SAMPLE_HZ);
	c->recording.samples.has_states =
		profile_options_get_number(&c->request->options, "ptap_offcpu", 1) != 0;
}

/* Sets whether and how devices are recorded. 0 or -ENOMEM. */
static int capture_set_devices(struct running_capture *c)
{
	const struct profile_options *o = capture_request_get_device_options(c->request);

	if (!o)
		return 0;
	c->recording.gpus.config.interval_ns =
		NS_PER_MS * profile_options_get_number(
				    o, "ptap_gpu_usage_interval_ms", DEFAULT_GPU_INTERVAL_MS);
	if (collect_options_format(o, c->collect_options, sizeof c->collect_options))
		return space_add_warning(c->trace.space,
			"gpu: devices are not recorded: the options for them are longer than %zu bytes",
			sizeof c->collect_options - 1);
	c->recording.collectors.options = c->collect_options;
	c->recording.collectors.are_wanted = collectors_are_wanted;
	c->recording.collectors.context = c;
	return 0;
}

/*
 * Waits until the collectors have begun, so that they and the recording begin together, but not
 * beyond EARLY_NS before the agreed time.
 */
static void await_collectors(struct running_capture *c, int64_t at)
{
	int64_t give_up = monotonic_ns() + COLLECTORS_PATIENCE_NS;

	if (at && at - EARLY_NS < give_up)
		give_up = at - EARLY_NS;
	while (collectors_are_beginning(&c->recording) && monotonic_ns() < give_up &&
		!capture_is_over(c)) {
		int64_t poll_ns = monotonic_ns() + COLLECTORS_POLL_NS;

		target_wait(c->target, poll_ns < give_up ? poll_ns : give_up);
		collectors_visit(&c->recording);
	}
}

/* Skips the records that the threads write before |at|, so that their rings do not fill. */
static void wait_recording_until(struct running_capture *c, int64_t at)
{
	while (monotonic_ns() < at && !capture_is_over(c)) {
		int64_t poll_ns = monotonic_ns() + SKIP_INTERVAL_NS;

		target_wait(c->target, at < poll_ns ? at : poll_ns);
		recording_skip(&c->recording, at);
	}
	c->is_unbegun = monotonic_ns() < at;
	if (c->is_unbegun)
		set_levels(c);
}

static void wait_to_arm(struct running_capture *c, int64_t at)
{
	bool wants_devices = c->request->options.device_tracer_level != 0;

	if (wants_devices && monotonic_ns() < at - CAPTURE_ARM_NS) {
		wait_until(c, at - CAPTURE_ARM_DEVICES_NS);
		collecting_find_use(c->target, c->recording.collectors.root);
	}
	wait_until(c, at - capture_find_arm_ns(c->target, wants_devices));
}

/*
 * Returns when the capture records, or is over before its start (c->is_unbegun).
 * Outcomes as capture_run().
 */
static int capture_begin(struct running_capture *c, struct diag *d)
{
	int64_t at;
	int r;

	c->recording.unix_offset_ns = clock_find_unix_offset_ns();
	c->recording.asked_ns = find_asked(c);
	at = c->recording.asked_ns > monotonic_ns() ? c->recording.asked_ns : 0;
	if (at) {
		c->control->on_begin(c->control->context);
		wait_to_arm(c, at);
	}
	if (atomic_load(c->control->cancel))
		return CAPTURE_CANCELLED;
	set_levels(c);
	r = recording_arm(&c->recording, c->trace.level, d);
	if (!r) {
		await_collectors(c, at);
		wait_until(c, at - EARLY_NS);
		set_levels(c);
		c->recording.family->enabled_ns = at;
		recording_poll_halt(&c->recording);
		r = recording_begin(&c->recording, c->trace.level, d);
	}
	if (!r) {
		wait_recording_until(c, at);
		r = recording_start(&c->recording, at);
	}
	return r == RECORDING_NO_TARGET ? CAPTURE_NO_TARGET : r;
}

/* --- while it records --------------------------------------------------------------------- */

/* The next visit is due when the fastest ring will be a quarter full, judged by this visit. */
static int64_t find_next_period(int64_t period, unsigned fullest)
{
	int64_t next = fullest ? period * 250 / fullest : period * 2;

	if (next > period * 2)
		next = period * 2;
	if (next < MIN_PERIOD_NS)
		return MIN_PERIOD_NS;
	return next < MAX_PERIOD_NS ? next : MAX_PERIOD_NS;
}

static int64_t find_end_time(const struct running_capture *c)
{
	uint64_t ms = c->request->options.duration_ms;

	if (c->is_unbegun)
		return c->recording.start.monotonic_ns + 1;
	return clock_add_ns(c->recording.start.monotonic_ns,
		ms > UINT64_MAX / NS_PER_MS ? UINT64_MAX : ms * (uint64_t)NS_PER_MS);
}

static void note_progress(struct running_capture *c)
{
	const struct drain_budget *budget = &c->recording.budget;
	uint64_t held = budget->sink ? budget->sink->count_held_bytes(budget->sink) : 0;

	progress_note(c->control->progress, budget->used_bytes + budget->given_bytes,
		budget->given_bytes - held);
}

static void record_to_end(struct running_capture *c)
{
	int64_t end = c->recording.end_ns;
	int64_t period = MIN_PERIOD_NS;

	recording_poll_halt(&c->recording);
	while (!capture_is_over(c)) {
		int64_t now = monotonic_ns();

		if (now >= end)
			break;
		target_wait(c->target, now + period < end ? now + period : end);
		period = find_next_period(period, recording_visit(&c->recording));
		note_progress(c);
		if (monotonic_ns() - c->recording.halt_polled_ns >= RECORDING_HALT_POLL_NS)
			recording_poll_halt(&c->recording);
		if (c->request->keeps_newest && monotonic_ns() < end)
			snapshots_visit(&c->snapshots);
	}
	recording_poll_halt(&c->recording);
}

static int end_recording(struct running_capture *c)
{
	int r = recording_end(&c->recording);

	if (r != -ETIMEDOUT)
		return r;
	c->recording.is_halted = true;
	return 0;
}

static int run_capture(struct running_capture *c, struct capture_result *result, struct diag *d)
{
	int r = capture_begin(c, d);

	if (r)
		return r;
	if (c->request->keeps_newest)
		snapshots_init(&c->snapshots, &c->trace, c->max_bytes / BYTES_PER_KEPT_SLOT_BYTE);
	c->control->on_begin(c->control->context);
	c->recording.end_ns = find_end_time(c);
	progress_begin(c->control->progress, c->recording.start.monotonic_ns, c->recording.end_ns);
	record_to_end(c);
	snapshots_settle(&c->snapshots);
	if (capture_is_gone(c))
		c->control->on_gone(c->control->context);
	r = end_recording(c);
	if (c->is_unbegun && capture_is_gone(c))
		return CAPTURE_NO_TARGET;
	progress_end(c->control->progress, c->recording.stop.monotonic_ns);
	if (atomic_load(c->control->cancel))
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
	const struct capture_control *control, struct capture_result *result, struct diag *d)
{
	struct running_capture c = {.target = f->main, .request = request, .control = control};
	int r;

	memset(result, 0, sizeof *result);
	c.trace = (struct capture_trace){.request = request,
		.control = control,
		.target = f->main,
		.recording = &c.recording};
	if (space_new(&c.trace.space))
		return -ENOMEM;
	family_prune(f);
	c.max_bytes = capture_find_max_bytes(
		(uint64_t)profile_options_get_number(&request->options, "ptap_max_capture_bytes",
			(int64_t)f->main->max_capture_bytes),
		&f->headroom);
	recording_init(&c.recording, f, c.max_bytes,
		(uint64_t)profile_options_get_number(
			&request->options, "ptap_spool_window_bytes", 0));
	if (request->keeps_newest)
		recording_set_unlimited(&c.recording);
	capture_set_samples(&c);
	r = capture_set_devices(&c);
	if (!r)
		r = run_capture(&c, result, d);
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
	r = space_add_warning(
		space, "nothing was recorded: the recording was ended before its start");
	request.space = space;
	if (!r)
		r = encode(&request, &result->delivery, &n_left_out);
	space_free(space);
	return r;
}
