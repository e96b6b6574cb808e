/* SPDX-License-Identifier: Apache-2.0 */
/* The signals of the host daemon, and its end; see parts.h. */
#include "daemon/host/parts.h"

#include <signal.h>
#include <stdatomic.h>

#include "base/diag.h"
#include "base/log.h"
#include "daemon/host/config/invocation.h"
#include "rpc/server.h"

/* When the daemon ends, complete answers get at least this time to reach their clients. */
#define GRACE_MS 1000
/* This time is added to the operator's limit when the service manager is asked to wait. */
#define STOPPING_MS 15000

#define POLL_MS 20
/* Calls that were given up get this time to answer. */
#define FAREWELL_MS 1000

/* --- the end ---------------------------------------------------------------------------------- */

/*
 * Runs on a thread of libuv's, because the loop must go on to tell the service manager that the
 * daemon lives.
 */
static void finish_rpc(uv_work_t *work)
{
	struct host *h = work->data;

	rpc_server_finish(h->rpc, h->grace_ms);
}

static void on_finished(uv_work_t *work, int status)
{
	struct host *h = work->data;

	(void)status;
	registrar_close(&h->registrar);
	web_close(&h->web);
	uv_stop(&h->loop);
}

unsigned host_count_calls(struct host *h)
{
	return errands_count(&h->service.errands) + web_count_captures(&h->web);
}

static void give_up_calls(struct host *h, unsigned n)
{
	log_warn(LOG_RPC, "%u calls did not end in time, and are given up", n);
	h->closing.has_given_up = true;
	errands_give_up(&h->service.errands);
	web_stop_captures(&h->web);
}

static void finish_calls(struct host *h)
{
	uint64_t now_ms = uv_now(&h->loop);
	int64_t rest_ms = (int64_t)(h->closing.deadline_ms - now_ms);

	health_end(&h->service.health);
	h->grace_ms = (int)(rest_ms > GRACE_MS ? rest_ms : GRACE_MS);
	h->finish.data = h;
	if (uv_queue_work(&h->loop, &h->finish, finish_rpc, on_finished))
		uv_stop(&h->loop);
}

static void on_poll(uv_timer_t *timer)
{
	struct host *h = timer->data;
	struct closing *c = &h->closing;
	unsigned n = host_count_calls(h);
	uint64_t now_ms = uv_now(timer->loop);

	if (n && now_ms >= c->deadline_ms && !c->has_given_up)
		give_up_calls(h, n);
	if (n && now_ms < c->deadline_ms + FAREWELL_MS)
		return;
	uv_timer_stop(timer);
	finish_calls(h);
}

static void await_calls(struct host *h, int64_t limit_ms)
{
	struct closing *c = &h->closing;
	unsigned n = host_count_calls(h);

	c->has_begun = true;
	c->deadline_ms = uv_now(&h->loop) + (uint64_t)limit_ms;
	if (n)
		log_info(LOG_RPC, "%u calls are under way, and have %lld s", n,
			(long long)limit_ms / 1000);
	uv_timer_start(&c->poll, on_poll, 0, POLL_MS);
}

/* Programs stay known and connections open, so that clients can end their sessions. */
static void begin_end(struct host *h)
{
	int64_t limit_ms = settings_get_stop_limit_ms(&h->settings);

	manager_say_stopping(&h->manager, limit_ms + STOPPING_MS);
	atomic_store(&h->service.is_ending, 1);
	door_close(&h->door);
	registrar_refuse(&h->registrar);
	web_refuse_captures(&h->web);
	socket_file_remove(&h->door_file);
	socket_file_remove(&h->web_file);
	socket_file_remove(&h->registry_file);
	await_calls(h, limit_ms);
}

/* A second signal gives up all calls under way. */
static void on_end(uv_signal_t *handle, int number)
{
	struct host *h = handle->data;

	log_info(LOG_LISTEN, "ending: %s", number == SIGTERM ? "SIGTERM" : "SIGINT");
	if (!h->closing.has_begun)
		begin_end(h);
	else if (h->closing.deadline_ms > uv_now(&h->loop))
		h->closing.deadline_ms = uv_now(&h->loop);
}

/* --- settings --------------------------------------------------------------------------------- */

void host_apply_settings(struct host *h)
{
	enum log_level level = LOG_LEVEL_INFO;

	log_level_parse(h->settings.log_level, &level);
	log_set_level(level);
	operators_set(&h->operators, h->settings.operators);
}

static void on_kept(const struct setting *row)
{
	log_warn(LOG_LISTEN, "%s: has changed; the new value takes effect at the next start",
		row->key);
}

static void on_reload(uv_signal_t *handle, int number)
{
	struct host *h = handle->data;
	struct settings read;
	struct diag d = DIAG_INIT;

	(void)number;
	if (h->closing.has_begun)
		return;
	manager_say_reloading(&h->manager);
	if (invocation_read(h->invocation, &read, &d)) {
		log_error(LOG_LISTEN, "%s; the settings stay as they were", d.text);
	} else {
		settings_keep_fixed(&read, &h->settings, on_kept);
		h->settings = read;
		host_apply_settings(h);
		log_info(LOG_LISTEN, "the settings were read again");
	}
	manager_say_ready(&h->manager);
}

static const struct {
	int number;
	uv_signal_cb handle;
} handled_signals[] = {
	{SIGTERM, on_end},
	{SIGINT, on_end},
	{SIGHUP, on_reload},
};

int host_signals_open(struct host *h, struct diag *d)
{
	int r = uv_timer_init(&h->loop, &h->closing.poll);

	h->closing.poll.data = h;
	for (size_t i = 0; !r && i < sizeof handled_signals / sizeof *handled_signals; i++) {
		h->signals[i].data = h;
		r = uv_signal_init(&h->loop, &h->signals[i]);
		if (!r)
			r = uv_signal_start(&h->signals[i], handled_signals[i].handle,
				handled_signals[i].number);
	}
	return r ? diag_set(d, r, "signals: %s", uv_strerror(r)) : 0;
}
