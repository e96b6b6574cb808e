/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the JSON API; see api.h. */
#include "daemon/host/web/api.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "daemon/host/calls/host_calls.h"
#include "daemon/host/machine/history.h"
#include "daemon/host/machine/machine.h"
#include "daemon/host/programs/programs.h"
#include "daemon/host/web/jobs.h"
#include "daemon/host/web/json_text.h"
#include "daemon/host/web/stream.h"
#include "daemon/host/web/target_json.h"
#include "daemon/host/web/web.h"

/* Time for captures to write their data when the daemon ends. */
#define GRACE_MS 20000
/*
 * While a stream has the topic of programs, they are asked for their state at every other sample.
 */
#define ASK_TICKS 2
/* The clock was set if it moved by more between two ticks; slewing stays far below this. */
#define MAX_DRIFT_NS (NS_PER_S / 2)

/* --- events: posted in any thread, sent in the loop's ----------------------------------------- */

static void on_wake(struct letter *letter)
{
	struct api *a = (struct api *)((char *)letter - offsetof(struct api, wake));

	atomic_store(&a->is_woken, 0);
	streams_pump(a);
}

static void api_wake(void *context)
{
	struct api *a = context;

	if (!atomic_exchange(&a->is_woken, 1))
		post_send(&a->web->post, &a->wake);
}

/* --- programs that come and go ---------------------------------------------------------------- */

static void api_tell_gone(struct api *a, const struct program *p)
{
	struct json_text text;

	if (json_text_begin(&text))
		return;
	json_uint(&text.json, "id", p->id);
	json_int(&text.json, "pid", p->pid);
	json_text(&text.json, "name", p->status.name);
	hub_post(&a->hub, HUB_TARGETS, p->uid, "target_gone", json_text_end(&text, NULL));
}

static void on_program(void *context, const struct program *p, bool is_gone)
{
	struct api *a = context;

	if (is_gone)
		api_tell_gone(a, p);
	else
		hub_post(&a->hub, HUB_TARGETS, p->uid, "target", target_json_format(p));
}

/* --- samples ---------------------------------------------------------------------------------- */

static int get_last_sample(const struct history *h, void *context)
{
	*(uint64_t *)context = h->n;
	return 0;
}

/*
 * When the clock was set, invalidates all events, because the times of sent samples are wrong then.
 */
static void watch_clock(struct api *a)
{
	int64_t offset_ns = clock_find_unix_offset_ns();
	int64_t by_ns = offset_ns - a->unix_offset_ns;

	a->unix_offset_ns = offset_ns;
	if (by_ns > -MAX_DRIFT_NS && by_ns < MAX_DRIFT_NS)
		return;
	log_info(LOG_LISTEN, "the clock was set: %+lld ms", (long long)(by_ns / NS_PER_MS));
	hub_forget(&a->hub);
}

void api_tick(struct api *a)
{
	struct host_service *host = a->web->host;
	uint64_t n = 0;

	machine_read(host->machine, get_last_sample, &n);
	if (n)
		hub_post_usage(&a->hub, n - 1);
	if (a->n_ticks++ % ASK_TICKS == 0 && streams_want(a, HUB_TARGETS))
		programs_ask(host->programs);
	conversions_age(&a->conversions, monotonic_ns() / NS_PER_MS);
	streams_tick(a);
	/* Comes last, so that streams send the sample of this tick before it is invalidated. */
	watch_clock(a);
}

static void want_run(void *context, const struct run_state *state)
{
	run_reading_want(context, state);
}

void api_open(struct api *a, struct web *web, const char *log_dir)
{
	memset(a, 0, sizeof *a);
	a->web = web;
	a->started_unix_ms = realtime_ns() / NS_PER_MS;
	a->unix_offset_ns = clock_find_unix_offset_ns();
	a->wake.open = on_wake;
	hub_init(&a->hub, a->started_unix_ms);
	a->hub.wake = api_wake;
	a->hub.context = a;
	runs_init(&a->runs, log_dir, &a->hub);
	jobs_init(&a->jobs, web->host, &a->hub, &a->runs);
	run_reading_open(&a->reading, a);
	conversions_init(&a->conversions);
	a->runs.want = want_run;
	a->runs.context = &a->reading;
	programs_watch(web->host->programs, on_program, a);
}

/* Frees nothing, since captures that still run may use |a| until the process ends. */
void api_close(struct api *a)
{
	unsigned n_left;

	programs_watch(a->web->host->programs, NULL, NULL);
	run_reading_close(&a->reading);
	n_left = jobs_finish(&a->jobs, GRACE_MS);
	if (n_left)
		log_warn(LOG_CAPTURE, "ending: %u captures are not written", n_left);
	hub_silence(&a->hub);
}
