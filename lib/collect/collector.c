/* SPDX-License-Identifier: Apache-2.0 */
/* One collector's steps in a capture; see collector.h. */
#include "lib/collect/collector.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "lib/collect/plugin.h"
#include "lib/collect/run.h"

static const char *const step_names[ARENA_COLLECT_STEPS] = {
	[ARENA_COLLECT_PROBE] = "probe",
	[ARENA_COLLECT_OPEN] = "open",
	[ARENA_COLLECT_ARM] = "arm",
	[ARENA_COLLECT_START] = "start",
	[ARENA_COLLECT_POLL] = "poll",
	[ARENA_COLLECT_STOP] = "stop",
	[ARENA_COLLECT_DRAIN] = "drain",
	[ARENA_COLLECT_FLUSH] = "flush",
};

/*
 * Writes the collector's name and step to the arena, so that the server can report a collector that
 * does not return.
 */
static void enter_step(
	struct collector *self, struct collect_run *run, enum arena_collect_step step)
{
	struct arena_collect *c = &run->arena->collect;

	run->plugin = self->plugin;
	run->collector = self->number;
	memcpy(c->who, self->plugin->name, sizeof c->who);
	atomic_store(&c->step, step);
	self->why[0] = '\0';
}

static void leave_step(struct collector *self, struct collect_run *run)
{
	run->plugin = NULL;
	atomic_store(&run->arena->collect.step, ARENA_COLLECT_NOWHERE);
	self->why[sizeof self->why - 1] = '\0';
}

/*
 * Reports why a step failed, with the collector's message, or with a general one if that is empty.
 * A cancelled step is not reported.
 */
static int explain_failure(
	struct collector *self, struct collect_run *run, enum arena_collect_step step, int r)
{
	char words[96];

	if (r >= 0 || (r == -ECANCELED && outlet_is_closed(run->arena)))
		return r;
	if (!self->why[0])
		snprintf(words, sizeof words, "%s failed and gave no reason: %s", step_names[step],
			errno_words(-r));
	collect_warn(&run->warnings, self->plugin->name, self->why[0] ? self->why : words);
	return r;
}

/* Runs a step whose only argument is the state. A collector may lack the step: |take| is NULL. */
static int run_step(struct collector *self, struct collect_run *run, enum arena_collect_step step,
	int (*take)(void *state, char *why))
{
	int r;

	if (!take)
		return 0;
	enter_step(self, run, step);
	r = take(self->state, self->why);
	leave_step(self, run);
	return explain_failure(self, run, step, r);
}

/* --- the end ------------------------------------------------------------------------------- */

static void close_state(struct collector *self, struct collect_run *run)
{
	const struct ptap_collector *c = self->plugin->collector;

	if (run->exclusive == self->plugin)
		run->exclusive = NULL;
	self->stage = COLLECTOR_OVER;
	if (!c->close)
		return;
	enter_step(self, run, ARENA_COLLECT_CLOSE);
	c->close(self->state);
	leave_step(self, run);
}

static void stop_collector(struct collector *self, struct collect_run *run, int64_t deadline_ns)
{
	int r;

	enter_step(self, run, ARENA_COLLECT_STOP);
	r = self->plugin->collector->stop(self->state, deadline_ns, self->why);
	leave_step(self, run);
	explain_failure(self, run, ARENA_COLLECT_STOP, r);
}

/* Reports the losses that the collector counted, if it has emitted none since its start. */
static void report_unreported_losses(struct collector *self, struct collect_run *run)
{
	const struct ptap_collector *c = self->plugin->collector;
	struct ptap_collector_stats stats = {.size = sizeof stats};
	struct ptap_device_record loss = {
		.size = sizeof loss,
		.kind = PTAP_DEVICE_LOSS,
		.of.loss.reason = PTAP_DEVICE_LOSS_DROPPED,
	};

	if (!c->stats)
		return;
	enter_step(self, run, ARENA_COLLECT_STATS);
	c->stats(self->state, &stats);
	leave_step(self, run);
	loss.of.loss.n = stats.n_dropped;
	if (stats.n_dropped && !(run->lossy >> self->number & 1))
		collector_services.emit(&loss);
}

void collector_end(struct collector *self, struct collect_run *run, int64_t deadline_ns)
{
	if (self->stage == COLLECTOR_WAITING) {
		/* The collector never began; its last message has the reason. */
		collect_warn(&run->warnings, self->plugin->name, self->why);
		self->stage = COLLECTOR_OVER;
	}
	if (self->stage != COLLECTOR_RECORDING)
		return;
	stop_collector(self, run, deadline_ns);
	if (!outlet_is_closed(run->arena)) {
		run_step(self, run, ARENA_COLLECT_DRAIN, self->plugin->collector->drain);
		report_unreported_losses(self, run);
	}
	close_state(self, run);
}

/* --- the begin ----------------------------------------------------------------------------- */

static int load_plugin(struct collector *self, struct collect_run *run)
{
	struct diag d = DIAG_INIT;
	int r;

	enter_step(self, run, ARENA_COLLECT_LOAD);
	r = plugin_open(self->plugin, &d);
	leave_step(self, run);
	if (r)
		collect_warn(&run->warnings, self->plugin->name, d.text);
	return r;
}

static int probe_plugin(struct collector *self, struct collect_run *run)
{
	int r;

	enter_step(self, run, ARENA_COLLECT_PROBE);
	r = self->plugin->collector->probe(&collector_services, self->why);
	leave_step(self, run);
	return r == -EAGAIN ? r : explain_failure(self, run, ARENA_COLLECT_PROBE, r);
}

static int take_exclusive_place(struct collector *self, struct collect_run *run)
{
	char text[128];

	if (!(self->plugin->collector->flags & PTAP_COLLECTOR_EXCLUSIVE))
		return 0;
	if (run->exclusive) {
		snprintf(text, sizeof text,
			"does not record beside %s: a process can have only one such collector",
			run->exclusive->name);
		collect_warn(&run->warnings, self->plugin->name, text);
		return -EBUSY;
	}
	run->exclusive = self->plugin;
	return 0;
}

static int open_state(struct collector *self, struct collect_run *run)
{
	const struct ptap_collector *c = self->plugin->collector;
	int r;

	self->state = NULL;
	if (!c->open)
		return 0;
	enter_step(self, run, ARENA_COLLECT_OPEN);
	r = c->open(&collector_services, &self->state, self->why);
	leave_step(self, run);
	if (r < 0 && run->exclusive == self->plugin)
		run->exclusive = NULL;
	return explain_failure(self, run, ARENA_COLLECT_OPEN, r);
}

/* Starts a collector whose probe succeeded. */
static int start_collector(struct collector *self, struct collect_run *run)
{
	const struct ptap_collector *c = self->plugin->collector;
	int r = take_exclusive_place(self, run);

	if (!r)
		r = open_state(self, run);
	if (r < 0)
		return r;
	run->lossy &= ~(UINT32_C(1) << self->number);
	r = run_step(self, run, ARENA_COLLECT_ARM, c->arm);
	if (r >= 0)
		r = run_step(self, run, ARENA_COLLECT_START, c->start);
	if (r < 0)
		close_state(self, run);
	return r;
}

void collector_begin(struct collector *self, struct collect_run *run)
{
	int r;

	if (self->stage != COLLECTOR_WAITING || !plugin_is_wanted(self->plugin))
		return;
	r = load_plugin(self, run);
	if (!r)
		r = probe_plugin(self, run);
	if (r == -EAGAIN)
		return;
	if (r >= 0)
		r = start_collector(self, run);
	self->stage = r < 0 ? COLLECTOR_OVER : COLLECTOR_RECORDING;
}

static void flush_or_poll(struct collector *self, struct collect_run *run,
	enum arena_collect_step step, int (*take)(void *state, char *why))
{
	if (run_step(self, run, step, take) < 0)
		collector_end(self, run, monotonic_ns_by_call() + COLLECT_STOP_NS);
}

void collector_poll(struct collector *self, struct collect_run *run)
{
	if (self->stage == COLLECTOR_RECORDING)
		flush_or_poll(self, run, ARENA_COLLECT_POLL, self->plugin->collector->poll);
}

/* An older plug-in has no flush. */
static bool has_flush(const struct ptap_collector *c)
{
	return c->size >= offsetof(struct ptap_collector, flush) + sizeof c->flush && c->flush;
}

void collector_flush(struct collector *self, struct collect_run *run)
{
	if (self->stage == COLLECTOR_RECORDING && has_flush(self->plugin->collector))
		flush_or_poll(self, run, ARENA_COLLECT_FLUSH, self->plugin->collector->flush);
	else
		collector_poll(self, run);
}
