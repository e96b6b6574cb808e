/* SPDX-License-Identifier: Apache-2.0 */
/* Scans of rings for triggers; see trigger_scan.h. */
#include "daemon/serve/session/trigger_scan.h"

#include <errno.h>

#include "base/clock.h"
#include "base/log.h"
#include "daemon/pipeline/drain/rings.h"
#include "daemon/pipeline/drain/trigger_watch.h"
#include "daemon/pipeline/recording/recorder.h"
#include "daemon/pipeline/recording/source.h"
#include "daemon/target/target.h"

#define INTERVAL_NS (100 * NS_PER_MS)
/* Used while a ring gets more than half full between two scans. */
#define SHORT_INTERVAL_NS (10 * NS_PER_MS)
#define HALF 500u

int trigger_scan_init(struct trigger_scan *l, const struct profile_options *o, struct diag *d)
{
	*l = (struct trigger_scan){.due_ns = 0};
	return triggers_init(&l->triggers, o, d);
}

void trigger_scan_deinit(struct trigger_scan *l)
{
	triggers_deinit(&l->triggers);
	*l = (struct trigger_scan){.due_ns = 0};
}

static void set_clock(struct trigger_scan *l, const struct recorder *r)
{
	struct clock_pair start = r->recording.start;
	struct clock_pair now = clock_pair_read(r->recording.uses_ticks);
	double ns_per_tick = 1;

	if (r->recording.uses_ticks && now.ticks > start.ticks)
		ns_per_tick = (double)(now.monotonic_ns - start.monotonic_ns) /
			      (double)(now.ticks - start.ticks);
	triggers_set_clock(&l->triggers, now.monotonic_ns, ns_per_tick);
}

static unsigned visit_target(struct trigger_scan *l, struct target *t)
{
	unsigned most = 0;

	for (uint32_t i = 0; i < t->n_rings; i++) {
		unsigned share = rings_is_used(t, i) ? trigger_watch_visit(t, i) : 0;

		if (share > most)
			most = share;
	}
	if (most < TRIGGER_WATCH_OUTRUN || l->is_outrun)
		return most;
	l->is_outrun = true;
	log_warn(LOG_TRACE,
		"triggers of pid %d: the program overwrites annotations before they are checked; "
		"set larger rings (.ring_bytes)",
		(int)t->pid);
	return most;
}

static unsigned visit_sources(struct trigger_scan *l, struct recorder *r, bool is_late)
{
	unsigned most = 0;

	for (size_t i = 0; i < r->recording.n_sources; i++) {
		struct source *s = r->recording.sources[i];
		unsigned share = 0;

		if (s->state == SOURCE_ENDED ||
			(!s->target->watch && target_get_life(s->target) != TARGET_ALIVE))
			continue;
		if (!s->target->watch && trigger_watch_open(s->target, &l->triggers, is_late))
			r->recording.error = -ENOMEM;
		else
			share = visit_target(l, s->target);
		if (share > most)
			most = share;
	}
	return most;
}

void trigger_scan_begin(struct trigger_scan *l, struct recorder *r)
{
	if (!triggers_are_set(&l->triggers))
		return;
	set_clock(l, r);
	visit_sources(l, r, true);
	l->due_ns = monotonic_ns() + INTERVAL_NS;
}

void trigger_scan_poll(struct trigger_scan *l, struct recorder *r)
{
	unsigned most;

	if (monotonic_ns() < trigger_scan_get_due(l))
		return;
	set_clock(l, r);
	most = visit_sources(l, r, false);
	l->due_ns = monotonic_ns() + (most > HALF ? SHORT_INTERVAL_NS : INTERVAL_NS);
}

void trigger_scan_finish(struct trigger_scan *l, struct recorder *r)
{
	if (!triggers_are_set(&l->triggers))
		return;
	set_clock(l, r);
	visit_sources(l, r, false);
}

int64_t trigger_scan_get_due(const struct trigger_scan *l)
{
	return triggers_are_set(&l->triggers) ? l->due_ns : INT64_MAX;
}
