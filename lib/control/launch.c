/* SPDX-License-Identifier: Apache-2.0 */
/* From options to a server that has said hello; see launch.h. */
#define PTAP_IMPL_BUILDING
#include "lib/control/launch.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "lib/control/arena_head.h"
#include "lib/control/lent_server.h"
#include "lib/control/own_server.h"
#include "lib/control/parent.h"
#include "lib/spawn/pid_space.h"
#include "lib/spawn/spawn.h"

/* A program that execs itself may be here before its old server has closed the port. */
#define REBIND_TIMEOUT_NS (200 * NS_PER_MS)

/* Less address space, or memory to lock (mlockall), than the limits promise: with half the rings it may fit. */
static int may_fit_smaller(const struct launch *l)
{
	const struct spawn *s = l->spawn;

	return s->stage == SPAWN_ARENA && (s->error == -ENOMEM || s->error == -EAGAIN) &&
	       l->n_rings > 1;
}

int launch_until_it_fits(struct launch *l, int (*make)(void *context), void *context)
{
	int64_t give_up = monotonic_ns_by_call() + REBIND_TIMEOUT_NS;
	int r;

	for (;;) {
		l->spawn->arena_bytes = arena_size_bytes(l->n_rings, l->ring_bytes);
		r = make(context);
		if (r && may_fit_smaller(l))
			l->n_rings /= 2;
		else if (r == -EADDRINUSE && monotonic_ns_by_call() < give_up)
			usleep(2000);
		else
			return r;
	}
}

/* Whatever is cloned here would be PID 1 of that namespace, and take it down with its own end. */
static int check_pid_space(struct diag *d)
{
	if (pid_space_is_shared_with_children())
		return 0;
	return diag_set(d, -EOPNOTSUPP,
		"proftap server: this process called unshare(CLONE_NEWPID), and its next child "
		"becomes PID 1 there; start the server before that, or in the child");
}

static int settle(
	struct launch *l, const struct ptap_server_options *o, int is_private, struct diag *d)
{
	int r = check_pid_space(d);

	l->o = *o;
	listen_address_strip(&l->o, l->address);
	l->ring_bytes = arena_round_ring_bytes(o->ring_bytes);
	l->n_rings = arena_count_rings(l->ring_bytes);
	if (r || is_private)
		return r;
	r = recorder_settings_find(&l->o, &l->recorder, d);
	return r ? r : listen_address_parse(&l->o, l->spawn, d);
}

static int start(struct launch *l, struct diag *d)
{
	int r = own_server_start(l, d);

	return r == OWN_SERVER_IMPOSSIBLE ? lent_server_start(l, d) : r;
}

int launch_server(const struct ptap_server_options *o, int is_private, struct diag *d)
{
	/* Before there is a thread of ours. */
	int may_announce = parent_may_be_announced();
	struct launch l = {.spawn = spawn_new()};
	int r;

	if (!l.spawn)
		return diag_set(d, -ENOMEM, "proftap: out of memory");
	r = settle(&l, o, is_private, d);
	if (!r)
		r = start(&l, d);
	if (!r && may_announce)
		parent_announce(l.spawn->arena);
	spawn_free(l.spawn);
	return r;
}
