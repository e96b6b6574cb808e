/* SPDX-License-Identifier: Apache-2.0 */
/* The end of the flight recorder; see recorder_end.h. */
#include "daemon/session/recorder_end.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/futex.h"
#include "base/log.h"
#include "daemon/kernel/ending.h"
#include "daemon/recording/capture.h"
#include "daemon/session/hold.h"
#include "daemon/session/recorder_asks.h"
#include "daemon/session/recorder_work.h"
#include "daemon/session/request_list.h"
#include "daemon/session/session.h"
#include "daemon/target/family.h"
#include "daemon/target/target.h"

int recorder_end_holds(const struct session *s)
{
	return atomic_load(&s->has_recorder) && target_get_life(s->family->main) == TARGET_DEAD;
}

static void describe_how(const struct target *t, char *text, size_t size)
{
	char how[64];

	ending_describe(target_find_ending(t), how, sizeof how);
	if (t->is_another)
		snprintf(text, size, "became another program (execve)");
	else
		snprintf(text, size, "ended%s", how);
}

/* It may have asked for a snapshot just before, and say there why it ended. */
static void describe_end(struct recorder_work *w)
{
	const struct target *t = w->session->family->main;
	char how[80];
	char why[160];
	char unwritten[160];
	int has_why = recorder_work_take_why(w, why, sizeof why);

	lookout_finish(&w->lookout, &w->recorder);
	triggers_describe_unwritten(&w->lookout.triggers, unwritten, sizeof unwritten);
	describe_how(t, how, sizeof how);
	snprintf(w->run.reason, sizeof w->run.reason, "the program (pid %d) %s%s%s", (int)t->pid,
		how, has_why ? ", after ptap_snapshot: " : "", has_why ? why : "");
	snprintf(w->run.warning, sizeof w->run.warning,
		"%s; these are its last moments, as the flight recorder had them%s%s",
		w->run.reason, unwritten[0] ? "; " : "", unwritten);
}

/* 0, or why there is none. */
static int write_last_run(struct recorder_work *w)
{
	if (!recorder_run_has_place(&w->run))
		return -ENOENT;
	w->run.on_written = NULL;
	recorder_work_begin_run(w);
	recorder_snapshot_wait(&w->snapshot);
	return w->run.outcome;
}

/* Until somebody has had it, or nobody will want it. */
static void hold(struct recorder_work *w)
{
	struct session *s = w->session;
	struct hold h;

	w->is_held = 1;
	hold_init(&h, s->family->main, s->way, recorder_run_has_place(&w->run), monotonic_ns());
	while (w->recorder.is_on && !hold_is_over(&h, monotonic_ns())) {
		uint32_t news = atomic_load(&s->recorder_news);

		recorder_asks_serve(s);
		if (atomic_load(&s->is_inherited) && recorder_work_is_ready(s))
			break;
		futex_wait_until(&s->recorder_news, news, hold_get_due(&h, monotonic_ns()));
	}
	if (hold_mark_is_gone(&h.mark))
		log_info(LOG_TARGET, "what pid %d left is given up: others have died since",
			(int)s->family->main->pid);
	hold_deinit(&h);
}

static void save(struct recorder_work *w)
{
	recorder_snapshot_wait(&w->snapshot);
	recorder_work_is_ready(w->session);
	if (!w->recorder.is_on || target_get_life(w->session->family->main) != TARGET_DEAD)
		return;
	/* Of each command of a shell's, for one. */
	if (!recorder_has_content(&w->recorder))
		return;
	describe_end(w);
	recorder_freeze(&w->recorder);
	if (write_last_run(w))
		hold(w);
	recorder_snapshot_wait(&w->snapshot);
}

void recorder_end(struct session *s)
{
	struct recorder_work *w = s->recorder_work;
	struct session_request *late;

	if (w) {
		save(w);
		recorder_work_turn_off(w);
	}
	pthread_mutex_lock(&s->mutex);
	late = s->recorder_asks;
	s->recorder_asks = NULL;
	pthread_mutex_unlock(&s->mutex);
	request_list_tell(late, CAPTURE_NO_TARGET, session_gone_text);
	if (w)
		recorder_deinit(&w->recorder);
	free(w);
	s->recorder_work = NULL;
}
