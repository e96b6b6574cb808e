/* SPDX-License-Identifier: Apache-2.0 */
/* One collector's life; see life.h. */
#include "lib/collect/life.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "lib/collect/plugin.h"
#include "lib/collect/run.h"
#include "lib/collect/services.h"

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

/* So that the server can say who it is that does not come back, and from what. */
static void enter_step(struct life *l, struct collect_run *run, enum arena_collect_step step)
{
	struct arena_collect *c = &run->arena->collect;

	run->plugin = l->plugin;
	run->collector = l->number;
	memcpy(c->who, l->plugin->name, sizeof c->who);
	atomic_store(&c->step, step);
	l->why[0] = '\0';
}

static void leave_step(struct life *l, struct collect_run *run)
{
	run->plugin = NULL;
	atomic_store(&run->arena->collect.step, ARENA_COLLECT_NOWHERE);
	l->why[sizeof l->why - 1] = '\0';
}

/* Why a step failed, in the collector's words or in ours. What was cancelled nobody wants to know of. */
static int explain(struct life *l, struct collect_run *run, enum arena_collect_step step, int r)
{
	char words[96];

	if (r >= 0 || (r == -ECANCELED && outlet_is_closed(run->arena)))
		return r;
	if (!l->why[0])
		snprintf(words, sizeof words, "%s failed, and has not said why: %s",
			step_names[step], errno_words(-r));
	said_add(&run->said, l->plugin->name, l->why[0] ? l->why : words);
	return r;
}

/* A step that has nothing but the state; NULL: there is none. */
static int take_step(struct life *l, struct collect_run *run, enum arena_collect_step step,
	int (*take)(void *state, char *why))
{
	int r;

	if (!take)
		return 0;
	enter_step(l, run, step);
	r = take(l->state, l->why);
	leave_step(l, run);
	return explain(l, run, step, r);
}

/* --- the end ------------------------------------------------------------------------------- */

static void close_state(struct life *l, struct collect_run *run)
{
	const struct ptap_collector *c = l->plugin->collector;

	if (run->exclusive == l->plugin)
		run->exclusive = NULL;
	l->stage = LIFE_OVER;
	if (!c->close)
		return;
	enter_step(l, run, ARENA_COLLECT_CLOSE);
	c->close(l->state);
	leave_step(l, run);
}

static void stop(struct life *l, struct collect_run *run, int64_t deadline_ns)
{
	int r;

	enter_step(l, run, ARENA_COLLECT_STOP);
	r = l->plugin->collector->stop(l->state, deadline_ns, l->why);
	leave_step(l, run);
	explain(l, run, ARENA_COLLECT_STOP, r);
}

/* What it has lost and not said is said. */
static void read_stats(struct life *l, struct collect_run *run)
{
	const struct ptap_collector *c = l->plugin->collector;
	struct ptap_collector_stats stats = {.size = sizeof stats};
	struct ptap_device_record loss = {
		.size = sizeof loss,
		.kind = PTAP_DEVICE_LOSS,
		.of.loss.reason = PTAP_DEVICE_LOSS_DROPPED,
	};

	if (!c->stats)
		return;
	enter_step(l, run, ARENA_COLLECT_STATS);
	c->stats(l->state, &stats);
	leave_step(l, run);
	loss.of.loss.n = stats.n_dropped;
	if (stats.n_dropped && run->n_losses == l->n_losses_before)
		collector_services.emit(&loss);
}

void life_end(struct life *l, struct collect_run *run, int64_t deadline_ns)
{
	if (l->stage == LIFE_WAITING) {
		/* It never began, and has said why. */
		said_add(&run->said, l->plugin->name, l->why);
		l->stage = LIFE_OVER;
	}
	if (l->stage != LIFE_RECORDING)
		return;
	stop(l, run, deadline_ns);
	if (!outlet_is_closed(run->arena)) {
		take_step(l, run, ARENA_COLLECT_DRAIN, l->plugin->collector->drain);
		read_stats(l, run);
	}
	close_state(l, run);
}

/* --- the begin ----------------------------------------------------------------------------- */

static int load(struct life *l, struct collect_run *run)
{
	struct diag d = DIAG_INIT;
	int r;

	enter_step(l, run, ARENA_COLLECT_LOAD);
	r = plugin_open(l->plugin, &d);
	leave_step(l, run);
	if (r)
		said_add(&run->said, l->plugin->name, d.text);
	return r;
}

static int probe(struct life *l, struct collect_run *run)
{
	int r;

	enter_step(l, run, ARENA_COLLECT_PROBE);
	r = l->plugin->collector->probe(&collector_services, l->why);
	leave_step(l, run);
	return r == -EAGAIN ? r : explain(l, run, ARENA_COLLECT_PROBE, r);
}

static int take_place(struct life *l, struct collect_run *run)
{
	char text[128];

	if (!(l->plugin->collector->flags & PTAP_COLLECTOR_EXCLUSIVE))
		return 0;
	if (run->exclusive) {
		snprintf(text, sizeof text,
			"does not record beside %s: there can be one of them in a process",
			run->exclusive->name);
		said_add(&run->said, l->plugin->name, text);
		return -EBUSY;
	}
	run->exclusive = l->plugin;
	return 0;
}

static int open_state(struct life *l, struct collect_run *run)
{
	const struct ptap_collector *c = l->plugin->collector;
	int r;

	l->state = NULL;
	if (!c->open)
		return 0;
	enter_step(l, run, ARENA_COLLECT_OPEN);
	r = c->open(&collector_services, &l->state, l->why);
	leave_step(l, run);
	if (r < 0 && run->exclusive == l->plugin)
		run->exclusive = NULL;
	return explain(l, run, ARENA_COLLECT_OPEN, r);
}

/* From a collector that can work to one that does. */
static int start(struct life *l, struct collect_run *run)
{
	const struct ptap_collector *c = l->plugin->collector;
	int r = take_place(l, run);

	if (!r)
		r = open_state(l, run);
	if (r < 0)
		return r;
	l->n_losses_before = run->n_losses;
	r = take_step(l, run, ARENA_COLLECT_ARM, c->arm);
	if (r >= 0)
		r = take_step(l, run, ARENA_COLLECT_START, c->start);
	if (r < 0)
		close_state(l, run);
	return r;
}

void life_begin(struct life *l, struct collect_run *run)
{
	int r;

	if (l->stage != LIFE_WAITING || !plugin_is_wanted(l->plugin))
		return;
	r = load(l, run);
	if (!r)
		r = probe(l, run);
	if (r == -EAGAIN)
		return;
	if (r >= 0)
		r = start(l, run);
	l->stage = r < 0 ? LIFE_OVER : LIFE_RECORDING;
}

static void hand_on(struct life *l, struct collect_run *run, enum arena_collect_step step,
	int (*take)(void *state, char *why))
{
	if (take_step(l, run, step, take) < 0)
		life_end(l, run, monotonic_ns_by_call() + COLLECT_STOP_NS);
}

void life_poll(struct life *l, struct collect_run *run)
{
	if (l->stage == LIFE_RECORDING)
		hand_on(l, run, ARENA_COLLECT_POLL, l->plugin->collector->poll);
}

/* An older plug-in has none. */
static int has_flush(const struct ptap_collector *c)
{
	return c->size >= offsetof(struct ptap_collector, flush) + sizeof c->flush && c->flush;
}

void life_flush(struct life *l, struct collect_run *run)
{
	if (l->stage == LIFE_RECORDING && has_flush(l->plugin->collector))
		hand_on(l, run, ARENA_COLLECT_FLUSH, l->plugin->collector->flush);
	else
		life_poll(l, run);
}
