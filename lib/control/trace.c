/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ptap_trace_start() and ptap_trace_stop() put a request into the arena; the server records the
 * trace and writes it to disk. lib/wire/arena.h describes the states of a request.
 */
#define PTAP_IMPL_BUILDING
#include <errno.h>
#include <inttypes.h>
#include <proftap/proftap.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/futex.h"
#include "base/local_path.h"
#include "lib/control/follow.h"
#include "lib/control/life.h"
#include "lib/control/server.h"
#include "lib/record/guest.h"

/* --- the request --------------------------------------------------------------------------- */

/* The request of a trace. The options are text, so that only the server needs to know them. */
struct trace_request {
	char log_dir[sizeof((struct arena_trace *)0)->log_dir]; /* an absolute path */
	char options[sizeof((struct arena_trace *)0)->options]; /* lines key=value, terminated */
	size_t options_bytes; /* without the terminator */
};

static int set_request_log_dir(struct trace_request *q, const char *log_dir, struct diag *d)
{
	char here[sizeof q->log_dir] = "";
	int n;
	int r;

	if (!log_dir || !*log_dir)
		return diag_set(d, -EINVAL, "ptap_trace_start: no log directory given");
	r = local_path_check("ptap_trace_start", log_dir, d);
	if (r)
		return r;
	if (log_dir[0] != '/' && !getcwd(here, sizeof here))
		return diag_set(d, -EINVAL,
			"log directory %.200s: the working directory is not known: %s", log_dir,
			errno_words(errno));
	n = snprintf(q->log_dir, sizeof q->log_dir, "%s%s%s", here, *here ? "/" : "", log_dir);
	if (n >= (int)sizeof q->log_dir)
		return diag_set(d, -EINVAL,
			"log directory %.200s: longer than %zu bytes with the working directory",
			log_dir, sizeof q->log_dir - 1);
	return 0;
}

/* Appends one line. */
__attribute__((format(printf, 3, 4))) static int add_option(
	struct trace_request *q, struct diag *d, const char *format, ...)
{
	char *at = q->options + q->options_bytes;
	size_t left = sizeof q->options - q->options_bytes;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(at, left, format, ap);
	va_end(ap);
	if (n < 0 || (size_t)n + 1 >= left)
		return diag_set(d, -EINVAL, "the trace's options: longer than %zu bytes in all",
			sizeof q->options - 2);
	if (strchr(at, '\n'))
		return diag_set(d, -EINVAL, "%.64s: an option cannot have a line end in it", at);
	at[n] = '\n';
	at[n + 1] = '\0';
	q->options_bytes += (size_t)n + 1;
	return 0;
}

static int add_option_map(
	struct trace_request *q, const struct ptap_profile_options *o, struct diag *d)
{
	int r = 0;

	for (size_t i = 0; i < o->n_advanced_configuration && !r; i++) {
		const struct ptap_profile_option *option = &o->advanced_configuration[i];

		if (!option->key || !option->value)
			return diag_set(d, -EINVAL, "%.64s: no %s",
				option->key ? option->key : "advanced_configuration",
				option->key ? "value" : "key");
		r = add_option(q, d, "%s=%s", option->key, option->value);
	}
	return r;
}

static int set_request_options(
	struct trace_request *q, const struct ptap_profile_options *o, struct diag *d)
{
	int r = add_option(q, d, "host_tracer_level=%d", o->host_tracer_level);

	if (!r)
		r = add_option(q, d, "device_tracer_level=%d", o->device_tracer_level);
	if (!r)
		r = add_option(q, d, "python_tracer_level=%d", o->python_tracer_level);
	if (!r)
		r = add_option(q, d, "duration_ms=%" PRIu64, o->duration_ms);
	if (!r)
		r = add_option(q, d, "delay_ms=%" PRIu64, o->delay_ms);
	if (!r)
		r = add_option(q, d, "start_timestamp_ns=%" PRIu64, o->start_timestamp_ns);
	if (!r && o->session_id)
		r = add_option(q, d, "session_id=%s", o->session_id);
	return r ? r : add_option_map(q, o, d);
}

static int trace_request_make(struct trace_request *q, const char *log_dir,
	const struct ptap_profile_options *options, struct diag *d)
{
	struct ptap_profile_options o = PTAP_PROFILE_OPTIONS_INIT;
	int r;

	if (options && options->size < sizeof options->size)
		return diag_set(
			d, -EINVAL, "ptap_trace_start: use PTAP_PROFILE_OPTIONS_INIT for options");
	/*
	 * The header that the program was built with may be older or newer than ours: copy the
	 * fields that both have.
	 */
	if (options)
		memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
	q->options_bytes = 0;
	r = set_request_log_dir(q, log_dir, d);
	return r ? r : set_request_options(q, &o, d);
}

/* --- asking the server --------------------------------------------------------------------- */

/* The server takes a request at once, unless it still assembles an earlier recording. */
#define TAKE_TIMEOUT_NS (10 * NS_PER_S)
#define KICK_INTERVAL_NS NS_PER_MS
#define POLL_INTERVAL_NS (50 * NS_PER_MS)

/* Maps the server's result, usually a file error, to a code of <proftap/error.h>. */
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

/*
 * Wakes the server if it must act, then waits a moment for a change of the state. The server sleeps
 * on the futex |guest| and misses a wake-up that comes just before it sleeps, so the callers repeat
 * this.
 */
static void wait_for_server(struct arena *arena, uint32_t state)
{
	bool wants_attention = state == ARENA_TRACE_ASKED || state == ARENA_TRACE_ENDING;
	int64_t pause = wants_attention ? KICK_INTERVAL_NS : POLL_INTERVAL_NS;

	if (wants_attention)
		futex_wake(&arena->guest, 1);
	futex_wait_until(&arena->trace.state, state, monotonic_ns_by_call() + pause);
}

static int fail_gone(struct diag *d)
{
	return diag_set(d, -ECHILD, "proftapd: ended before the trace was written");
}

static int read_trace_result(struct arena *arena, struct diag *d)
{
	int r = atomic_load(&arena->trace.result);

	return r < 0 ? diag_set(d, result_to_public(r), "%.500s", arena->trace.message) : 0;
}

static int withdraw_request(struct arena *arena, struct diag *d)
{
	uint32_t asked = ARENA_TRACE_ASKED;

	if (!atomic_compare_exchange_strong(&arena->trace.state, &asked, ARENA_TRACE_NONE))
		return 0;
	return diag_set(
		d, -EBUSY, "the server still delivers an earlier recording; start the trace later");
}

/* Waits until the server records or has failed. */
static int wait_for_trace_start(struct guest *guest, struct diag *d)
{
	struct arena *arena = guest->arena;
	int64_t timeout = monotonic_ns_by_call() + TAKE_TIMEOUT_NS;
	uint32_t state;
	int r;

	wait_for_server(arena, ARENA_TRACE_ASKED);
	while ((state = atomic_load(&arena->trace.state)) != ARENA_TRACE_RUNNING) {
		if (state == ARENA_TRACE_DONE)
			return read_trace_result(arena, d);
		if (!atomic_load(&guest->is_serving) || server_is_gone(arena, guest->server_pid))
			return fail_gone(d);
		if (state == ARENA_TRACE_ASKED && monotonic_ns_by_call() > timeout) {
			r = withdraw_request(arena, d);
			if (r)
				return r;
		}
		wait_for_server(arena, state);
	}
	return 0;
}

static int ask_for_trace(struct guest *guest, const struct trace_request *q, struct diag *d)
{
	struct arena_trace *trace = &guest->arena->trace;
	int r;

	memcpy(trace->log_dir, q->log_dir, sizeof trace->log_dir);
	memcpy(trace->options, q->options, sizeof trace->options);
	atomic_store(&trace->state, ARENA_TRACE_ASKED);
	r = wait_for_trace_start(guest, d);
	if (r) {
		atomic_store(&trace->state, ARENA_TRACE_NONE);
		return r;
	}
	guest->trace = guest->arena;
	guest->trace_pid = guest->server_pid;
	return 0;
}

/*
 * Refuses if an ancestor's server records this process: a server of its own would remove the
 * process from those recordings for good.
 */
static int start_trace_server(struct diag *d)
{
	const struct arena *ancestor = follow_get_ancestor();

	if (ancestor)
		return diag_set(d, -EBUSY,
			"this process is recorded by the server of pid %d, from which it was forked "
			"(follow_fork); start the trace there, or ptap_server_start() here first",
			(int)ancestor->pid);
	return server_start_private(d);
}

static int start_trace_locked(const struct trace_request *q, struct diag *d)
{
	struct guest *guest = guest_get();
	bool is_private = !atomic_load(&guest->is_serving);
	int r = 0;

	if (guest->trace)
		return diag_set(d, -EALREADY,
			"a trace was started before, and not stopped; ptap_trace_stop() first");
	if (is_private)
		r = start_trace_server(d);
	if (r)
		return r;
	r = ask_for_trace(guest, q, d);
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
		r = start_trace_locked(&q, &d);
	lock_release(&guest_get()->lock);
	d.code = server_to_public(r);
	return r ? last_error_set(&d) : 0;
}

/* Waits without a timeout until the server has written the trace's file, or has ended. */
static int wait_for_trace_end(struct arena *arena, int32_t pid, struct diag *d)
{
	uint32_t state;

	while ((state = atomic_load(&arena->trace.state)) != ARENA_TRACE_DONE) {
		/* The server may have finished before it ended, so read the state once more. */
		if (server_is_gone(arena, pid) &&
			atomic_load(&arena->trace.state) != ARENA_TRACE_DONE)
			return fail_gone(d);
		wait_for_server(arena, state);
	}
	return read_trace_result(arena, d);
}

static int stop_trace_locked(struct diag *d)
{
	struct guest *guest = guest_get();
	struct arena *arena = guest->trace;
	uint32_t running = ARENA_TRACE_RUNNING;
	int r;

	if (!arena)
		return diag_set(d, -EINVAL, "ptap_trace_stop: no trace was started");
	atomic_compare_exchange_strong(&arena->trace.state, &running, ARENA_TRACE_ENDING);
	r = wait_for_trace_end(arena, guest->trace_pid, d);
	atomic_store(&arena->trace.state, ARENA_TRACE_NONE);
	guest->trace = NULL;
	/* Stop the server that ptap_trace_start() started. */
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
	r = stop_trace_locked(&d);
	lock_release(&guest_get()->lock);
	d.code = server_to_public(r);
	return r ? last_error_set(&d) : 0;
}
