/* SPDX-License-Identifier: Apache-2.0 */
/* Fills an arena that a server already has, and waits until that server serves; see handshake.h. */
#define PTAP_IMPL_BUILDING
#include "lib/control/handshake.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/futex.h"
#include "lib/control/arena.h"
#include "lib/control/control.h"
#include "lib/control/follow.h"
#include "lib/control/launch.h"
#include "lib/control/life.h"
#include "lib/record/guest.h"
#include "lib/spawn/spawn.h"
#include "lib/wire/arena.h"

#define HELLO_TIMEOUT_NS (10 * NS_PER_S)
#define CLOSE_TIMEOUT_NS (2 * NS_PER_S)
/* Most servers answer within this time, and then no check for their life is needed. */
#define POLL_INTERVAL_NS (50 * NS_PER_MS)

/* Waits until the word differs from |hello|, for one interval at most, and returns it. */
static uint32_t wait_while_hello_is(struct arena *arena, uint32_t hello)
{
	futex_wait_until(&arena->hello, hello, monotonic_ns_by_call() + POLL_INTERVAL_NS);
	return atomic_load(&arena->hello);
}

/* The server refused. -EINVAL means that an option is wrong. */
static int fail_refused(const struct arena *arena, struct diag *d)
{
	if (atomic_load(&arena->hello_error) == -EINVAL)
		return diag_set(d, -EINVAL, "%.500s", arena->message);
	return diag_set(d, -ECHILD, "proftapd: %.480s", arena->message);
}

/*
 * Waits until the server |pid| (0: unknown) serves, 10 s at most. Its hello is the only proof that
 * it lives: a sandbox may have killed it at exec. 0, HANDSHAKE_NO_SERVER, or a negative errno with
 * |d|.
 */
static int wait_for_hello(struct arena *arena, int32_t pid, struct diag *d)
{
	int64_t give_up = monotonic_ns_by_call() + HELLO_TIMEOUT_NS;
	uint32_t hello;

	while ((hello = wait_while_hello_is(arena, ARENA_HELLO_NONE)) == ARENA_HELLO_NONE) {
		if (server_is_gone(arena, pid)) {
			diag_set(d, -ECHILD, "%.500s", arena->message);
			return HANDSHAKE_NO_SERVER;
		}
		if (monotonic_ns_by_call() > give_up)
			return diag_set(d, -ETIMEDOUT, "proftapd: no answer within 10 s");
	}
	return hello == ARENA_HELLO_FAILED ? fail_refused(arena, d) : 0;
}

void handshake_wait_for_close(struct arena *arena, int32_t pid)
{
	int64_t give_up = monotonic_ns_by_call() + CLOSE_TIMEOUT_NS;

	while (wait_while_hello_is(arena, ARENA_HELLO_READY) == ARENA_HELLO_READY &&
		monotonic_ns_by_call() < give_up && !server_is_gone(arena, pid))
		;
}

/*
 * No thread has a ring there, since no capture starts before the hello: the rings are unmapped. The
 * head and the strings stay reserved: a late thread in an annotation of an earlier server's capture
 * may read there.
 */
static void drop_failed_server(struct spawn *s)
{
	char *arena = (char *)s->arena;

	/* After the server's end its pid may belong to another process. */
	if (s->pid > 0 && !process_is_gone(s->pid))
		kill(s->pid, SIGKILL);
	control_stop();
	munmap(arena + arena_rings_offset(), s->arena_bytes - arena_rings_offset());
	madvise(arena, arena_rings_offset(), MADV_REMOVE);
}

/* Fills the arena, and the server's fields of |guest|. */
static int fill_arena(const struct launch *l, struct diag *d)
{
	const struct spawn *s = l->spawn;
	struct guest *guest = guest_get();
	int r;

	/*
	 * The exchange comes before the copy of the strings: from here on, no call site keeps
	 * the id of a string that it registers in the old arena (lib/record/strings.c).
	 */
	atomic_exchange(&guest->arena, s->arena);
	r = arena_fill(s, &l->o, l->n_rings, l->ring_bytes);
	if (r)
		return diag_set(d, r, "proftap: no memory for the shared head: %s", errno_words(r));
	guest->server_pid = s->pid;
	guest->port = s->port;
	guest->has_listener = s->address_bytes != 0;
	return 0;
}

static int start_control(struct diag *d)
{
	int r = control_start();

	return r ? diag_set(d, r,
			   "proftap: cannot start the control thread: %s; raise the limit on processes",
			   errno_words(r))
		 : 0;
}

static void begin_service(struct arena *arena)
{
	struct guest *guest = guest_get();

	arena_keep_strings(arena);
	arena_rings_note(arena);
	follow_begin(arena);
	atomic_store(&guest->is_serving, 1);
	/*
	 * The server may have died since its hello, and the control thread may have noticed before.
	 */
	if (!(atomic_load(&arena->owner) & ARENA_TID_MASK))
		atomic_store(&guest->is_serving, 0);
}

int handshake_make(const struct launch *l, struct diag *d)
{
	struct spawn *s = l->spawn;
	int r = fill_arena(l, d);

	if (!r)
		r = start_control(d);
	if (!r)
		r = wait_for_hello(s->arena, s->pid, d);
	if (r)
		drop_failed_server(s);
	else
		begin_service(s->arena);
	return r;
}
