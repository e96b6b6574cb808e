/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's part of the flight recorder; see recorder_work.h. */
#include "daemon/serve/session/recorder_work.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/profile_options.h"
#include "daemon/pipeline/recording/capture_request.h"
#include "daemon/serve/session/session.h"
#include "daemon/serve/session/session_recorder.h"
#include "daemon/target/exit_note.h"
#include "daemon/target/family.h"
#include "daemon/target/rights.h"
#include "daemon/target/target.h"

/*
 * The limit of runs for crashed children in a minute, because a child that crashes at its start may
 * be restarted again and again.
 */
#define MAX_CRASH_RUNS 4
#define CRASH_MINUTE_NS (60 * NS_PER_S)

static struct arena *get_arena(const struct session *s)
{
	return s->family->main->arena;
}

static void wake_worker(void *context)
{
	struct session *s = context;

	atomic_store(&s->is_pending, 1);
	session_recorder_wake(s);
}

static struct recorder_work *make_work(struct session *s)
{
	struct recorder_work *w = s->recorder_work;

	if (w)
		return w;
	w = calloc(1, sizeof *w);
	if (!w)
		return NULL;
	w->session = s;
	recorder_init(&w->recorder, s->family);
	recorder_run_init(&w->run, s->family->main, s->repository);
	w->snapshot.on_made = wake_worker;
	w->snapshot.context = s;
	s->recorder_work = w;
	return w;
}

void recorder_work_tell(struct session *s, bool is_on)
{
	pthread_mutex_lock(&s->mutex);
	atomic_store(&s->has_recorder, is_on);
	pthread_mutex_unlock(&s->mutex);
	atomic_store(&get_arena(s)->recorder_is_on, (uint32_t)is_on);
}

static void clear_ask(void *context)
{
	struct arena_snapshot *snapshot = &((struct arena *)context)->snapshot;
	uint32_t word = atomic_load(&snapshot->word);

	atomic_store(&snapshot->word, arena_snapshot_next(word, ARENA_SNAPSHOT_NONE));
}

/* --- on and off ------------------------------------------------------------------------------- */

/*
 * Triggers need a place for their runs. Without triggers the recorder still serves clients if runs
 * cannot be written, and ptap_snapshot() returns the error.
 */
static int check_place(struct recorder_work *w, struct diag *d)
{
	struct diag place = DIAG_INIT;
	bool is_needed = triggers_are_set(&w->scan.triggers);
	int r;

	if (is_needed && w->session->family->main->is_foreign)
		return diag_set(
			d, -EINVAL, "ptap_trigger_*: no place for runs: %s", rights_foreign_text);
	if (is_needed && !recorder_run_has_place(&w->run))
		return diag_set(d, -EINVAL,
			"ptap_trigger_*: the server has no log directory for a trigger's run; "
			"set .log_dir, or PROFTAP_LOG_DIR for PROFTAP_SERVER");
	r = recorder_run_try(&w->run, &place);
	if (r && is_needed)
		return diag_set(d, r == -ENOMEM ? r : -EINVAL,
			"ptap_trigger_*: no place for runs: %s", place.text);
	if (r)
		log_warn(LOG_TRACE, "%s", w->run.trouble);
	return 0;
}

static int start_recorder(struct recorder_work *w, const struct profile_options *o, struct diag *d)
{
	const struct recorder_config config = {
		.level = o->host_tracer_level,
		.max_bytes = (uint64_t)profile_options_get_number(o, "ptap_max_capture_bytes",
			(int64_t)w->session->family->main->max_capture_bytes),
		/* A recorder that is seldom asked should cost little, so it samples on request. */
		.sample_rate_hz = (unsigned)profile_options_get_number(o, "ptap_sample_hz", 0),
		.has_states = profile_options_get_number(o, "ptap_offcpu", 1) != 0,
	};
	int r = trigger_scan_init(&w->scan, o, d);

	if (!r)
		r = check_place(w, d);
	if (!r)
		r = recorder_start(&w->recorder, &config, d);
	if (r)
		trigger_scan_deinit(&w->scan);
	else
		trigger_scan_begin(&w->scan, &w->recorder);
	return r;
}

int recorder_work_turn_on(struct session *s, const struct profile_options *o, struct diag *d)
{
	struct recorder_work *w = make_work(s);
	int r;

	if (!w)
		return -ENOMEM;
	if (w->recorder.is_on)
		return diag_set(d, -EALREADY, "the flight recorder is on already");
	r = start_recorder(w, o, d);
	if (r)
		return r == RECORDING_NO_TARGET ? diag_set(d, -ESRCH, "%s", session_gone_text) : r;
	w->was_on = true;
	w->run.warning[0] = '\0';
	w->crashes = (struct child_crashes){.n_exits = atomic_load(&s->family->n_exits)};
	recorder_run_note_rights(&w->run);
	/*
	 * Discard a request of the program to an earlier recorder, which ended before it served
	 * the request.
	 */
	clear_ask(get_arena(s));
	recorder_work_tell(s, true);
	return 0;
}

int recorder_work_begin(struct session *s, struct diag *d)
{
	char lines[sizeof get_arena(s)->recorder_options];
	struct profile_options o;
	int r;

	memcpy(lines, get_arena(s)->recorder_options, sizeof lines);
	lines[sizeof lines - 1] = '\0';
	profile_options_init(&o);
	r = recorder_options_parse(&o, lines, d);
	if (!r)
		r = recorder_work_turn_on(s, &o, d);
	profile_options_deinit(&o);
	if (r == -ENOMEM)
		diag_set(d, r, "the flight recorder: out of memory");
	return r;
}

void recorder_work_turn_off(struct recorder_work *w)
{
	recorder_stop(&w->recorder);
	trigger_scan_deinit(&w->scan);
	recorder_work_tell(w->session, false);
}

bool recorder_work_is_ready(struct session *s)
{
	struct recorder_work *w = s->recorder_work;

	if (!w)
		return true;
	if (!recorder_snapshot_is_ready(&w->snapshot))
		return false;
	if (w->is_last)
		recorder_work_turn_off(w);
	w->is_last = false;
	return true;
}

/* --- requests of the program ------------------------------------------------------------------ */

void recorder_work_begin_run(struct recorder_work *w)
{
	struct recorder_wish wish = {
		.reason = w->run.reason,
		.warning = w->run.warning[0] ? w->run.warning : NULL,
		.deliver = recorder_run_deliver,
		.context = &w->run,
	};

	recorder_snapshot_take(&w->snapshot, &w->recorder, &wish);
}

bool recorder_work_take_why(struct recorder_work *w, char *why, size_t size)
{
	struct arena_snapshot *snapshot = &get_arena(w->session)->snapshot;
	uint32_t word = atomic_load(&snapshot->word);
	uint32_t taken = arena_snapshot_next(word, ARENA_SNAPSHOT_TAKEN);

	if (arena_snapshot_state(word) != ARENA_SNAPSHOT_ASKED ||
		!atomic_compare_exchange_strong(&snapshot->word, &word, taken))
		return false;
	snprintf(why, size, "%.*s", (int)sizeof snapshot->why[0],
		snapshot->why[arena_snapshot_text(word)]);
	printable_clean(why);
	return true;
}

static void serve_program(struct recorder_work *w)
{
	struct arena *arena = get_arena(w->session);

	if (arena_snapshot_state(atomic_load(&arena->snapshot.word)) != ARENA_SNAPSHOT_ASKED ||
		!recorder_work_is_ready(w->session) || !w->recorder.is_on ||
		!recorder_work_take_why(w, w->run.reason, sizeof w->run.reason))
		return;
	w->run.warning[0] = '\0';
	w->run.on_written = clear_ask;
	w->run.context = arena;
	if (recorder_run_has_place(&w->run))
		recorder_work_begin_run(w);
	else
		clear_ask(arena);
}

/* Begins a snapshot if a trigger has fired. */
static void serve_triggers(struct recorder_work *w)
{
	struct triggers *t = &w->scan.triggers;

	trigger_scan_poll(&w->scan, &w->recorder);
	if (!t->reason[0] || !recorder_work_is_ready(w->session) || !w->recorder.is_on)
		return;
	triggers_take(t, w->run.reason, sizeof w->run.reason);
	w->run.warning[0] = '\0';
	w->run.on_written = NULL;
	recorder_work_begin_run(w);
}

/* --- runs for children that a signal has ended while the program lives ------------------------ */

static void note_crash(struct recorder_work *w, const struct target *t)
{
	struct child_crashes *c = &w->crashes;
	char how[64];

	exit_note_describe(t, UINT64_MAX, how, sizeof how);
	log_warn(LOG_TARGET, "the forked child (pid %d) of pid %d ended, %s", (int)t->pid,
		(int)w->session->family->main->pid, how);
	if (c->reason[0])
		c->n_more++;
	else
		snprintf(c->reason, sizeof c->reason,
			"the forked child (pid %d) of the program (pid %d) ended, %s", (int)t->pid,
			(int)w->session->family->main->pid, how);
}

static void check_crashes(struct recorder_work *w)
{
	struct family *f = w->session->family;
	unsigned n_exits = atomic_load(&f->n_exits);

	if (n_exits == w->crashes.n_exits)
		return;
	w->crashes.n_exits = n_exits;
	for (size_t i = 0; i < f->n_children; i++) {
		struct child *child = f->children[i];

		if (!child->is_recorded || child->is_end_told ||
			!atomic_load(&child->target.has_exited))
			continue;
		child->is_end_told = 1;
		if (exit_note_is_crash(&child->target))
			note_crash(w, &child->target);
	}
}

/* Returns true if one more run may be begun in this minute, and counts it. */
static bool take_run(struct child_crashes *c)
{
	int64_t now_ns = monotonic_ns();

	if (!c->minute_from_ns || now_ns - c->minute_from_ns >= CRASH_MINUTE_NS) {
		c->minute_from_ns = now_ns;
		c->n_runs = 0;
	}
	return c->n_runs++ < MAX_CRASH_RUNS;
}

static void describe_crash(struct recorder_work *w)
{
	struct child_crashes *c = &w->crashes;
	char more[80] = "";

	if (c->n_more)
		snprintf(more, sizeof more, "; %u more that signals ended have no run of their own",
			c->n_more);
	snprintf(w->run.reason, sizeof w->run.reason, "%s%s", c->reason, more);
	snprintf(w->run.warning, sizeof w->run.warning,
		"%s; these are its last moments, as the flight recorder had them", w->run.reason);
	c->reason[0] = '\0';
	c->n_more = 0;
}

static void serve_crashes(struct recorder_work *w)
{
	struct child_crashes *c = &w->crashes;

	check_crashes(w);
	if (!c->reason[0] || !recorder_work_is_ready(w->session) || !w->recorder.is_on)
		return;
	if (!recorder_run_has_place(&w->run) || !take_run(c)) {
		c->reason[0] = '\0';
		c->n_more++;
		return;
	}
	describe_crash(w);
	w->run.on_written = NULL;
	recorder_work_begin_run(w);
}

/* --- the worker's loop ------------------------------------------------------------------------ */

void recorder_work_poll(struct session *s, bool is_capturing)
{
	struct recorder_work *w;

	session_recorder_serve(s);
	w = s->recorder_work;
	if (!w || !w->recorder.is_on)
		return;
	serve_program(w);
	family_handle_news(s->family);
	serve_crashes(w);
	serve_triggers(w);
	if (monotonic_ns() >= w->recorder.due_ns)
		recorder_run_note_rights(&w->run);
	recorder_tend(&w->recorder, is_capturing);
}

int64_t recorder_work_get_due(const struct session *s)
{
	const struct recorder_work *w = s->recorder_work;
	int64_t due_ns = w ? trigger_scan_get_due(&w->scan) : INT64_MAX;

	return w && w->recorder.due_ns < due_ns ? w->recorder.due_ns : due_ns;
}

static bool recorder_work_is_on(const struct session *s)
{
	return s->recorder_work && s->recorder_work->recorder.is_on;
}

bool recorder_work_has_used_rings(struct session *s)
{
	bool was_on = s->recorder_work && s->recorder_work->was_on;

	if (was_on)
		s->recorder_work->was_on = recorder_work_is_on(s);
	return was_on;
}
