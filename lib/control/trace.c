/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ptap_trace_start() and ptap_trace_stop(): a request in the arena, which the server records and writes to
 * disk. The words are in lib/wire/arena.h.
 */
#define PTAP_IMPL_BUILDING
#include <errno.h>
#include <proftap/proftap.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/futex.h"
#include "lib/control/cancel.h"
#include "lib/control/follow.h"
#include "lib/control/last_error.h"
#include "lib/control/life.h"
#include "lib/control/server.h"
#include "lib/control/trace_request.h"
#include "lib/record/guest.h"
#include "lib/record/lock.h"

/* The server looks at a request at once, but while it assembles what it has recorded before. */
#define TAKE_TIMEOUT_NS (10 * NS_PER_S)
#define KICK_INTERVAL_NS NS_PER_MS
#define LOOK_INTERVAL_NS (50 * NS_PER_MS)

/* What the server answers: mostly of files. */
static int result_to_public(int r)
{
	switch (r) {
	case -EACCES:
	case -EPERM:
	case -EROFS:
		return PTAP_ERR_ACCES;
	case -EDQUOT:
	case -EFBIG:
	case -ENOSPC:
		return PTAP_ERR_NOSPC;
	case -EINVAL:
	case -ENAMETOOLONG:
	case -ENOTDIR:
		return PTAP_ERR_INVAL;
	case -EBUSY:
	case -EEXIST:
	case -ENODATA:
	case -ENOMEM:
	case -ETIMEDOUT:
		return r;
	default:
		return PTAP_ERR_IO;
	}
}

/* The server sleeps on the word |guest|: a wake-up that comes just before it does so is missed. */
static void wait_for_server(struct arena *arena, uint32_t state)
{
	int wants_attention = state == ARENA_TRACE_ASKED || state == ARENA_TRACE_ENDING;
	int64_t pause = wants_attention ? KICK_INTERVAL_NS : LOOK_INTERVAL_NS;

	if (wants_attention)
		futex_wake(&arena->guest, 1);
	futex_wait_until(&arena->trace.state, state, monotonic_ns_by_call() + pause);
}

static int fail_gone(struct diag *d)
{
	return diag_set(d, -ECHILD, "proftapd: ended before the trace was written");
}

static int read_result(struct arena *arena, struct diag *d)
{
	int r = atomic_load(&arena->trace.result);

	return r < 0 ? diag_set(d, result_to_public(r), "%.500s", arena->trace.message) : 0;
}

static int give_up(struct arena *arena, struct diag *d)
{
	uint32_t asked = ARENA_TRACE_ASKED;

	if (!atomic_compare_exchange_strong(&arena->trace.state, &asked, ARENA_TRACE_NONE))
		return 0;
	return diag_set(
		d, -EBUSY, "the server still delivers an earlier recording; start the trace later");
}

/* Until it records, or has failed. */
static int await_start(struct guest *guest, struct diag *d)
{
	struct arena *arena = guest->arena;
	int64_t timeout = monotonic_ns_by_call() + TAKE_TIMEOUT_NS;
	uint32_t state;
	int r;

	wait_for_server(arena, ARENA_TRACE_ASKED);
	while ((state = atomic_load(&arena->trace.state)) != ARENA_TRACE_RUNNING) {
		if (state == ARENA_TRACE_DONE)
			return read_result(arena, d);
		if (!atomic_load(&guest->is_serving) || server_is_gone(arena, guest->server_pid))
			return fail_gone(d);
		if (state == ARENA_TRACE_ASKED && monotonic_ns_by_call() > timeout) {
			r = give_up(arena, d);
			if (r)
				return r;
		}
		wait_for_server(arena, state);
	}
	return 0;
}

static int ask(struct guest *guest, const struct trace_request *q, struct diag *d)
{
	struct arena_trace *trace = &guest->arena->trace;
	int r;

	memcpy(trace->log_dir, q->log_dir, sizeof trace->log_dir);
	memcpy(trace->options, q->options, sizeof trace->options);
	atomic_store(&trace->state, ARENA_TRACE_ASKED);
	r = await_start(guest, d);
	if (r) {
		atomic_store(&trace->state, ARENA_TRACE_NONE);
		return r;
	}
	guest->trace = guest->arena;
	guest->trace_pid = guest->server_pid;
	return 0;
}

/* A server of its own would take the process out of the one that it is recorded by, for good. */
static int start_private(struct diag *d)
{
	const struct arena *ancestor = follow_get_ancestor();

	if (ancestor)
		return diag_set(d, -EBUSY,
			"this process is recorded by the server of pid %d, from which it was forked "
			"(follow_fork); start the trace there, or ptap_server_start() here first",
			(int)ancestor->pid);
	return server_start_private(d);
}

static int start_locked(const struct trace_request *q, struct diag *d)
{
	struct guest *guest = guest_get();
	int is_private = !atomic_load(&guest->is_serving);
	int r = 0;

	if (guest->trace)
		return diag_set(d, -EALREADY,
			"a trace was started before, and not stopped; ptap_trace_stop() first");
	if (is_private)
		r = start_private(d);
	if (r)
		return r;
	r = ask(guest, q, d);
	if (r && is_private)
		server_stop();
	return r;
}

int ptap_trace_start(const char *log_dir, const struct ptap_profile_options *options)
{
	struct diag d = DIAG_INIT;
	struct trace_request q;
	_uncancelled_ int cancel_state = cancel_disable();
	int r;

	if (server_is_disabled())
		return 0;
	r = trace_request_make(&q, log_dir, options, &d);
	guest_lock(&guest_get()->lock);
	if (!r)
		r = start_locked(&q, &d);
	lock_release(&guest_get()->lock);
	d.code = server_to_public(r);
	return r ? last_error_set(&d) : 0;
}

/* Until its file is there. However long that takes: only the server's end is the end of waiting. */
static int await_end(struct arena *arena, int32_t pid, struct diag *d)
{
	uint32_t state;

	while ((state = atomic_load(&arena->trace.state)) != ARENA_TRACE_DONE) {
		/* It may have finished between the two looks. */
		if (server_is_gone(arena, pid) &&
			atomic_load(&arena->trace.state) != ARENA_TRACE_DONE)
			return fail_gone(d);
		wait_for_server(arena, state);
	}
	return read_result(arena, d);
}

static int stop_locked(struct diag *d)
{
	struct guest *guest = guest_get();
	struct arena *arena = guest->trace;
	uint32_t running = ARENA_TRACE_RUNNING;
	int r;

	if (!arena)
		return diag_set(d, -EINVAL, "ptap_trace_stop: no trace was started");
	atomic_compare_exchange_strong(&arena->trace.state, &running, ARENA_TRACE_ENDING);
	r = await_end(arena, guest->trace_pid, d);
	atomic_store(&arena->trace.state, ARENA_TRACE_NONE);
	guest->trace = NULL;
	/* The server that was started for it. */
	if (atomic_load(&guest->is_serving) && !guest->has_listener)
		server_stop();
	return r;
}

int ptap_trace_stop(void)
{
	struct diag d = DIAG_INIT;
	_uncancelled_ int cancel_state = cancel_disable();
	int r;

	if (server_is_disabled())
		return 0;
	guest_lock(&guest_get()->lock);
	r = stop_locked(&d);
	lock_release(&guest_get()->lock);
	d.code = server_to_public(r);
	return r ? last_error_set(&d) : 0;
}
