/* SPDX-License-Identifier: Apache-2.0 */
/* Meeting a server; see handshake.h. */
#define PTAP_IMPL_BUILDING
#include "lib/control/handshake.h"

#include <signal.h>
#include <sys/mman.h>

#include "base/diag.h"
#include "lib/control/arena_head.h"
#include "lib/control/arena_rings.h"
#include "lib/control/control.h"
#include "lib/control/follow.h"
#include "lib/control/hello.h"
#include "lib/control/launch.h"
#include "lib/control/life.h"
#include "lib/record/guest.h"
#include "lib/spawn/spawn.h"

/*
 * No thread has a ring there, since no capture starts before the hello: they are unmapped. The head and the
 * strings stay reserved: a thread that is late in an annotation of an earlier server's capture may look there.
 */
static void drop_server(struct spawn *s)
{
	char *arena = (char *)s->arena;

	/* If it is gone its pid may be another process's. */
	if (s->pid > 0 && !process_is_gone(s->pid))
		kill(s->pid, SIGKILL);
	control_stop();
	munmap(arena + arena_rings_offset(), s->arena_bytes - arena_rings_offset());
	madvise(arena, arena_rings_offset(), MADV_REMOVE);
}

/* |guest| has what others may ask for. */
static int fill_arena(const struct launch *l, struct diag *d)
{
	const struct spawn *s = l->spawn;
	struct guest *guest = guest_get();
	int r;

	/* Before the strings are copied: what is registered in the old arena from here on nobody keeps (site.c). */
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
	/* It may have died since its hello, and the control thread have said so before. */
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
		r = hello_wait(s->arena, s->pid, d);
	if (r)
		drop_server(s);
	else
		begin_service(s->arena);
	return r == HELLO_NEVER ? HANDSHAKE_NO_SERVER : r;
}
