/* SPDX-License-Identifier: Apache-2.0 */
/* ptap_server_start() and its siblings. */
#define PTAP_IMPL_BUILDING
#include "lib/control/server.h"

#include <errno.h>
#include <proftap/proftap.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/env.h"
#include "base/local_path.h"
#include "lib/control/arena.h"
#include "lib/control/control.h"
#include "lib/control/follow.h"
#include "lib/control/handshake.h"
#include "lib/control/launch.h"
#include "lib/inject/preload.h"
#include "lib/record/guest.h"

static int fail_already(const struct guest *guest, struct diag *d)
{
	if (guest->port)
		return diag_set(
			d, -EALREADY, "proftap server: already started on port %u", guest->port);
	return diag_set(d, -EALREADY, "proftap server: already started on %.*s",
		(int)sizeof guest->arena->address - 1, guest->arena->address);
}

static int start_server_locked(const struct ptap_server_options *o, bool is_private, struct diag *d)
{
	struct guest *guest = guest_get();
	int r;

	if (atomic_load(&guest->is_serving) && !guest->has_listener)
		return diag_set(d, -EBUSY,
			"proftap server: the program records a trace of itself; ptap_trace_stop() first");
	/*
	 * The environment started this server (PROFTAP_SERVER), and users expect it at the address
	 * given there. So it stays, and the program's call succeeds.
	 */
	if (atomic_load(&guest->is_serving) && !is_private && preload_claim())
		return 0;
	if (atomic_load(&guest->is_serving))
		return fail_already(guest, d);
	/*
	 * The control thread and the rings may be left from a server that died, or from an
	 * ancestor's server.
	 */
	control_stop();
	arena_rings_shed(guest->arena);
	follow_end();
	r = local_path_check("log_dir", o->log_dir, d);
	if (r)
		return r;
	r = guest_wipe_on_fork();
	if (r)
		return diag_set(d, r, "proftap: the kernel cannot keep forked children apart: %s",
			errno_words(r));
	return launch_server(o, is_private, d);
}

int server_start_private(struct diag *d)
{
	const struct ptap_server_options o = PTAP_SERVER_OPTIONS_INIT;

	return start_server_locked(&o, true, d);
}

bool server_is_disabled(void)
{
	return env_is_on(ENV_PROFTAP_DISABLE);
}

/* The kernel may return errnos that <proftap/error.h> does not list. */
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
	/*
	 * The header that the program was built with may be older or newer than ours: copy the
	 * fields that both have.
	 */
	memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
	guest_lock(&guest_get()->lock);
	r = start_server_locked(&o, false, &d);
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

void server_stop(void)
{
	struct guest *guest = guest_get();

	if (atomic_exchange(&guest->is_serving, 0)) {
		follow_end();
		control_stop();
		handshake_wait_for_close(guest->arena, guest->server_pid);
	}
}

int ptap_server_stop(void)
{
	struct guest *guest = guest_get();
	_uncancelled_ int cancel_state = cancel_disable();

	guest_lock(&guest->lock);
	server_stop();
	lock_release(&guest->lock);
	return 0;
}

/* --- last error ------------------------------------------------------------------------------- */

/*
 * One text per thread, without thread-local storage (half a KiB in each of the host's threads) and
 * without a destructor in the host: each of the last 16 threads that failed has a slot. The lock
 * lies in the guest page, so that a child never inherits it locked.
 */
#define N_SLOTS 16

static struct {
	long tid;
	char text[sizeof((struct diag *)0)->text];
} error_slots[N_SLOTS];
static unsigned next_error_slot;

static int find_error_slot(long tid)
{
	for (int i = 0; i < N_SLOTS; i++)
		if (error_slots[i].tid == tid)
			return i;
	return -1;
}

int last_error_set(const struct diag *d)
{
	long tid = syscall(SYS_gettid);
	int i;

	guest_lock(&guest_get()->error_lock);
	i = find_error_slot(tid);
	if (i < 0)
		i = (int)(next_error_slot++ % N_SLOTS);
	error_slots[i].tid = tid;
	memcpy(error_slots[i].text, d->text, sizeof error_slots[i].text);
	lock_release(&guest_get()->error_lock);
	return d->code;
}

const char *ptap_last_error(void)
{
	int i;

	guest_lock(&guest_get()->error_lock);
	i = find_error_slot(syscall(SYS_gettid));
	lock_release(&guest_get()->error_lock);
	return i < 0 ? "" : error_slots[i].text;
}

const char *ptap_error_text(int error)
{
	switch ((enum ptap_error)error) {
#define CASE(name, value, text) \
	case PTAP_ERR_##name:   \
		return text;
		PTAP_ERROR_MAP(CASE)
#undef CASE
	}
	return "unknown error";
}
