/* SPDX-License-Identifier: Apache-2.0 */
/* From a request to a recording that runs; see capture_begin.h. */
#include "daemon/pipeline/recording/capture_begin.h"

#include "base/clock.h"
#include "base/profile_options.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/pipeline/recording/collect_options.h"
#include "daemon/pipeline/recording/collecting.h"
#include "daemon/pipeline/recording/collectors.h"
#include "daemon/pipeline/recording/recording_start.h"
#include "daemon/target/target.h"
#include "trace/model/space.h"

/* A wake-up that comes just before the worker sleeps is missed: it looks at its flags this often. */
#define LOOK_INTERVAL_NS (50 * NS_PER_MS)
/*
 * How long before its time the threads are told to record. Two threads must be woken for that, the worker and the
 * program's ptap-control, and on a machine that is busy each waits for others' turns of 3 to 4 ms. What they record until
 * the time is left out, so it is no longer than it must be: see docs/internals/protocol.md.
 */
#define EARLY_NS (20 * NS_PER_MS)
/* Of the clock between a request and its time: one that is only made go faster or slower comes nowhere near. */
#define MAX_DRIFT_NS (NS_PER_S / 2)
/* A full ring is not waited for. */
#define SKIP_INTERVAL_NS NS_PER_MS
/* A program's children wake nobody when their collectors have begun. */
#define COLLECTORS_LOOK_NS (2 * NS_PER_MS)
#define DEFAULT_GPU_INTERVAL_MS 100

bool capture_is_gone(const struct capture *c)
{
	return target_get_life(c->target) != TARGET_ALIVE;
}

bool capture_is_over(const struct capture *c)
{
	if (capture_is_gone(c))
		return true;
	c->request->on_look(c->request->context);
	return atomic_load(c->request->stop) || atomic_load(c->request->cancel) ||
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

/* By the clock as it is now, which may go faster or slower than it did; but when it was set, as it was asked for. */
static int64_t find_asked(const struct capture *c)
{
	int64_t was_ns = c->request->start_ns;
	int64_t is_ns = convert_start(c->request->start_timestamp_ns, c->recording.unix_offset_ns);

	return is_ns - was_ns < MAX_DRIFT_NS && was_ns - is_ns < MAX_DRIFT_NS ? is_ns : was_ns;
}

static void wait_until(struct capture *c, int64_t at)
{
	while (monotonic_ns() < at && !capture_is_over(c)) {
		int64_t look = monotonic_ns() + LOOK_INTERVAL_NS;

		target_wait(c->target, at < look ? at : look);
	}
}

/* The levels are 0 when it is over before it begins. */
static void set_levels(struct capture *c)
{
	bool is_stopped = atomic_load(c->request->stop);

	c->trace.level = is_stopped ? 0 : c->request->level;
	c->recording.usage_interval_ms = is_stopped ? 0 : c->request->usage_interval_ms;
	if (is_stopped)
		collectors_cancel(&c->recording);
}

/* Whether somebody wants what collectors still have. */
static bool is_wanted(void *context)
{
	struct capture *c = context;

	if (!capture_is_gone(c))
		c->request->on_look(c->request->context);
	return !atomic_load(c->request->cancel);
}

int capture_set_devices(struct capture *c)
{
	const struct profile_options *o = c->request->device_options;

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
	c->recording.collectors.look = is_wanted;
	c->recording.collectors.context = c;
	return 0;
}

/* A collector needs some time to begin; the recording shall begin with it, but not later than was agreed. */
static void await_collectors(struct capture *c, int64_t at)
{
	int64_t give_up = monotonic_ns() + COLLECTORS_PATIENCE_NS;

	if (at && at - EARLY_NS < give_up)
		give_up = at - EARLY_NS;
	while (collectors_are_beginning(&c->recording) && monotonic_ns() < give_up &&
		!capture_is_over(c)) {
		int64_t look = monotonic_ns() + COLLECTORS_LOOK_NS;

		target_wait(c->target, look < give_up ? look : give_up);
		collectors_visit(&c->recording);
	}
}

/* The threads record already; their rings must not be full when the time comes. */
static void wait_recording_until(struct capture *c, int64_t at)
{
	while (monotonic_ns() < at && !capture_is_over(c)) {
		int64_t look = monotonic_ns() + SKIP_INTERVAL_NS;

		target_wait(c->target, at < look ? at : look);
		recording_skip(&c->recording, at);
	}
	c->is_unbegun = monotonic_ns() < at;
	if (c->is_unbegun)
		set_levels(c);
}

static void wait_to_arm(struct capture *c, int64_t at)
{
	bool wants_devices = c->request->device_options != NULL;

	if (wants_devices && monotonic_ns() < at - CAPTURE_ARM_NS) {
		wait_until(c, at - CAPTURE_ARM_DEVICES_NS);
		collecting_find_use(c->target, c->recording.collectors.root);
	}
	wait_until(c, at - capture_find_arm_ns(c->target, wants_devices));
}

int capture_begin(struct capture *c, struct diag *d)
{
	int64_t at;
	int r;

	c->recording.unix_offset_ns = clock_find_unix_offset_ns();
	c->recording.asked_ns = find_asked(c);
	at = c->recording.asked_ns > monotonic_ns() ? c->recording.asked_ns : 0;
	if (at) {
		c->request->on_begin(c->request->context);
		wait_to_arm(c, at);
	}
	if (atomic_load(c->request->cancel))
		return CAPTURE_CANCELLED;
	set_levels(c);
	r = recording_arm(&c->recording, c->trace.level, d);
	if (!r) {
		await_collectors(c, at);
		wait_until(c, at - EARLY_NS);
		set_levels(c);
		c->recording.family->enabled_ns = at;
		recording_look_at_halt(&c->recording);
		r = recording_begin(&c->recording, c->trace.level, d);
	}
	if (!r) {
		wait_recording_until(c, at);
		r = recording_start(&c->recording, at);
	}
	return r == RECORDING_NO_TARGET ? CAPTURE_NO_TARGET : r;
}
