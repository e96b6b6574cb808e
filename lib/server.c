/* SPDX-License-Identifier: Apache-2.0 */
/* ptap_server_start() and its siblings: from options to a server that has said hello. */
#define PTAP_IMPL_BUILDING
#include "lib/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <proftap/proftap.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/env.h"
#include "base/futex.h"
#include "lib/arena_head.h"
#include "lib/cancel.h"
#include "lib/control.h"
#include "lib/follow.h"
#include "lib/inject/preload.h"
#include "lib/last_error.h"
#include "lib/record/guest.h"
#include "lib/record/lock.h"
#include "lib/spawn/address.h"
#include "lib/spawn/find.h"
#include "lib/spawn/spawn.h"

#define HELLO_TIMEOUT_NS (10 * NS_PER_S)
#define CLOSE_TIMEOUT_NS (2 * NS_PER_S)
/* A program that execs itself may be here before its old server has closed the port. */
#define REBIND_TIMEOUT_NS (50 * NS_PER_MS)

static int explain_spawn(const struct spawn *s, const char *path,
	const struct ptap_server_options *o, struct diag *d)
{
	const char *address = o->address ? o->address : "127.0.0.1";

	switch (s->stage) {
	case SPAWN_CLONE:
		if (s->error == -EPERM || s->error == -ENOSYS)
			return diag_set(d, s->error,
				"proftapd: cannot start a process: %s; is that forbidden here "
				"(seccomp)? Start the server before the sandbox",
				errno_words(s->error));
		return diag_set(d, s->error,
			"proftapd: cannot start a process: %s; raise the limit on processes",
			errno_words(s->error));
	case SPAWN_SOCKET:
		return diag_set(d, s->error, "proftap server: cannot make a socket: %s",
			errno_words(s->error));
	case SPAWN_BIND:
		if (s->error == -EADDRINUSE)
			return diag_set(d, s->error,
				"port %u: in use on %s; choose another, or 0 for any free one",
				o->port, address);
		return diag_set(d, s->error, "%s:%u: cannot listen there: %s", address, o->port,
			errno_words(s->error));
	case SPAWN_ARENA:
		if (s->error == -EFBIG)
			return diag_set(d, s->error,
				"proftap: RLIMIT_FSIZE (ulimit -f) is too low for %llu KiB of shared "
				"memory; raise it",
				(unsigned long long)(s->arena_bytes >> 10));
		return diag_set(d, s->error, "proftap: cannot map %llu MiB of shared memory: %s",
			(unsigned long long)(s->arena_bytes >> 20), errno_words(s->error));
	case SPAWN_EXEC:
		if (s->error == -EPERM || s->error == -EACCES)
			return diag_set(d, s->error,
				"%s: cannot be executed: %s; is that forbidden here (seccomp, "
				"AppArmor)? Start the server before the sandbox",
				path, errno_words(s->error));
		return diag_set(
			d, s->error, "%s: cannot be executed: %s", path, errno_words(s->error));
	}
	return s->error;
}

/* Less address space, or memory to lock (mlockall), than the limits promise: with half the rings it may fit. */
static int may_fit_smaller(const struct spawn *s, uint32_t n_rings)
{
	return s->stage == SPAWN_ARENA && (s->error == -ENOMEM || s->error == -EAGAIN) &&
	       n_rings > 1;
}

static int run_until_it_fits(struct spawn *s, uint32_t *n_rings, uint32_t ring_bytes)
{
	int64_t give_up = monotonic_ns_by_call() + REBIND_TIMEOUT_NS;
	int r;

	for (;;) {
		s->arena_bytes = arena_size_bytes(*n_rings, ring_bytes);
		r = spawn_run(s);
		if (may_fit_smaller(s, *n_rings))
			*n_rings /= 2;
		else if (r == -EADDRINUSE && monotonic_ns_by_call() < give_up)
			usleep(2000);
		else
			return r;
	}
}

static int run_spawn(struct spawn *s, const char *path, const struct ptap_server_options *o,
	uint32_t *n_rings, uint32_t ring_bytes, struct diag *d)
{
	char role[] = "--attached";
	char pid[16];
	char *argv[] = {(char *)"proftapd", role, pid, NULL};
	char **envp = clean_environment();

	if (!envp)
		return diag_set(d, -ENOMEM, "proftapd: out of memory");
	snprintf(pid, sizeof pid, "%d", (int)getpid());
	s->path = path;
	s->argv = argv;
	s->envp = envp;
	run_until_it_fits(s, n_rings, ring_bytes);
	free(envp);
	return s->error ? explain_spawn(s, path, o, d) : 0;
}

/* A zombie has no memory to read from. A living process answers EFAULT or, out of reach, EPERM. */
int server_is_gone(int32_t pid)
{
	char byte;
	struct iovec to = {&byte, 1};
	struct iovec from = {NULL, 1};

	return process_vm_readv(pid, &to, 1, &from, 1, 0) < 0 && errno == ESRCH;
}

/* Its hello is the only proof that it lives: a sandbox may have killed it at exec. */
static int wait_for_hello(struct arena *arena, int32_t pid, struct diag *d)
{
	int64_t give_up = monotonic_ns_by_call() + HELLO_TIMEOUT_NS;
	uint32_t hello;

	while ((hello = atomic_load(&arena->hello)) == ARENA_HELLO_NONE) {
		if (server_is_gone(pid))
			return diag_set(d, -ECHILD,
				"proftapd: ended before it was ready%s%.400s; is executing "
				"it forbidden here (seccomp, AppArmor)? Start the server before the sandbox",
				arena->message[0] ? ": " : "", arena->message);
		if (monotonic_ns_by_call() > give_up)
			return diag_set(d, -ETIMEDOUT, "proftapd: no answer within 10 s");
		futex_wait_until(
			&arena->hello, ARENA_HELLO_NONE, monotonic_ns_by_call() + 50 * NS_PER_MS);
	}
	if (hello == ARENA_HELLO_FAILED)
		return diag_set(d, -ECHILD, "proftapd: %.480s", arena->message);
	return 0;
}

/* From a mapped arena to a server that answers; on failure nothing of it stays but the mapping. */
static int connect_server(struct spawn *s, const struct ptap_server_options *o, uint32_t n_rings,
	uint32_t ring_bytes, struct diag *d)
{
	struct guest *guest = guest_get();
	int r = arena_fill(s, o, n_rings, ring_bytes);

	if (r) {
		kill(s->pid, SIGKILL);
		return diag_set(d, r, "proftap: no memory for the shared head: %s", errno_words(r));
	}
	guest->arena = s->arena;
	guest->n_rings = n_rings;
	guest->ring_bytes = ring_bytes;
	guest->server_pid = s->pid;
	guest->port = s->port;
	r = control_start();
	if (r) {
		kill(s->pid, SIGKILL);
		return diag_set(d, r,
			"proftap: cannot start the control thread: %s; raise the limit on processes",
			errno_words(r));
	}
	r = wait_for_hello(s->arena, s->pid, d);
	if (r) {
		kill(s->pid, SIGKILL);
		control_stop();
		return r;
	}
	arena_keep_strings(s->arena);
	follow_begin(s->arena);
	atomic_store(&guest->is_serving, 1);
	/* It may have died since its hello, and the control thread have said so before. */
	if (!(atomic_load(&s->arena->owner) & ARENA_TID_MASK))
		atomic_store(&guest->is_serving, 0);
	return 0;
}

static int check_host(struct diag *d)
{
	int subreaper = 0;

	prctl(PR_GET_CHILD_SUBREAPER, &subreaper, 0, 0, 0);
	if (getpid() == 1 || subreaper)
		return diag_set(d, -EOPNOTSUPP,
			"proftap server: this process is %s and would inherit the server as a child; "
			"start the program under an init (docker run --init, tini)",
			getpid() == 1 ? "PID 1 of its namespace" : "a child subreaper");
	return 0;
}

static int start_server(const struct ptap_server_options *o, int is_private, struct diag *d)
{
	char path[PATH_MAX];
	uint32_t ring_bytes = arena_round_ring_bytes(o->ring_bytes);
	uint32_t n_rings = arena_count_rings(ring_bytes);
	struct spawn *s;
	int r = check_host(d);

	if (r == 0)
		r = find_proftapd(path, sizeof path, d);
	if (r)
		return r;
	s = spawn_new();
	if (!s)
		return diag_set(d, -ENOMEM, "proftap: out of memory");
	if (!is_private)
		r = listen_address_parse(o, &s->address, &s->address_bytes, d);
	if (r == 0)
		r = run_spawn(s, path, o, &n_rings, ring_bytes, d);
	if (r == 0)
		r = connect_server(s, o, n_rings, ring_bytes, d);
	spawn_free(s);
	return r;
}

static int start_locked(const struct ptap_server_options *o, int is_private, struct diag *d)
{
	struct guest *guest = guest_get();
	int r;

	if (atomic_load(&guest->is_serving) && !guest->port)
		return diag_set(d, -EBUSY,
			"proftap server: the program records a trace of itself; ptap_trace_stop() first");
	/* At the place that the environment named, which is where people look for it. */
	if (atomic_load(&guest->is_serving) && !is_private && preload_claim())
		return 0;
	if (atomic_load(&guest->is_serving))
		return diag_set(
			d, -EALREADY, "proftap server: already started on port %u", guest->port);
	/* One that ended because its server died, or that serves an ancestor's server. */
	control_stop();
	follow_end();
	r = guest_wipe_on_fork();
	if (r)
		return diag_set(d, r, "proftap: the kernel cannot keep forked children apart: %s",
			errno_words(r));
	return start_server(o, is_private, d);
}

int server_start_private(struct diag *d)
{
	const struct ptap_server_options o = PTAP_SERVER_OPTIONS_INIT;

	return start_locked(&o, 1, d);
}

int server_is_disabled(void)
{
	return env_is_on(ENV_PROFTAP_DISABLE);
}

/* What the kernel may answer beyond the list of <proftap/error.h>. */
int server_to_public(int r)
{
	switch (r) {
#define CASE(name, value, text) case PTAP_ERR_##name:
		PTAP_ERROR_MAP(CASE)
#undef CASE
		return r;
	case -EPERM:
		return PTAP_ERR_ACCES;
	case -EFBIG:
		return PTAP_ERR_NOMEM;
	case -EMFILE:
	case -ENFILE:
		return PTAP_ERR_AGAIN;
	case -EAFNOSUPPORT:
		return PTAP_ERR_ADDRNOTAVAIL;
	default:
		return PTAP_ERR_SERVER;
	}
}

int ptap_server_start_with(const struct ptap_server_options *options)
{
	struct ptap_server_options o = PTAP_SERVER_OPTIONS_INIT;
	struct diag d = DIAG_INIT;
	_uncancelled_ int cancel_state = cancel_disable();
	int r;

	if (server_is_disabled())
		return 0;
	if (!options || options->size < sizeof options->size) {
		diag_set(&d, -EINVAL,
			"ptap_server_start_with: no options; use PTAP_SERVER_OPTIONS_INIT");
		return last_error_set(&d);
	}
	/* A program built with an older or a newer header: what both know. */
	memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
	lock_take(&guest_get()->lock);
	r = start_locked(&o, 0, &d);
	lock_release(&guest_get()->lock);
	d.code = server_to_public(r);
	return r ? last_error_set(&d) : 0;
}

int ptap_server_start(uint16_t port)
{
	struct ptap_server_options o = PTAP_SERVER_OPTIONS_INIT;

	o.port = port;
	return ptap_server_start_with(&o);
}

int ptap_server_port(void)
{
	struct guest *guest = guest_get();

	return atomic_load(&guest->is_serving) ? guest->port : 0;
}

/* The server closes its listener when it sees the control thread go. */
static void wait_for_close(struct arena *arena, int32_t pid)
{
	int64_t give_up = monotonic_ns_by_call() + CLOSE_TIMEOUT_NS;

	while (atomic_load(&arena->hello) == ARENA_HELLO_READY &&
		monotonic_ns_by_call() < give_up && !server_is_gone(pid))
		futex_wait_until(
			&arena->hello, ARENA_HELLO_READY, monotonic_ns_by_call() + 50 * NS_PER_MS);
}

void server_stop(void)
{
	struct guest *guest = guest_get();

	if (atomic_exchange(&guest->is_serving, 0)) {
		follow_end();
		control_stop();
		wait_for_close(guest->arena, guest->server_pid);
	}
}

int ptap_server_stop(void)
{
	struct guest *guest = guest_get();
	_uncancelled_ int cancel_state = cancel_disable();

	lock_take(&guest->lock);
	server_stop();
	lock_release(&guest->lock);
	return 0;
}
