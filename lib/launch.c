/* SPDX-License-Identifier: Apache-2.0 */
/* From options to a server that has said hello; see launch.h. */
#define PTAP_IMPL_BUILDING
#include "lib/launch.h"

#include <errno.h>
#include <limits.h>
#include <proftap/proftap.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/env.h"
#include "lib/arena_head.h"
#include "lib/arena_rings.h"
#include "lib/control.h"
#include "lib/follow.h"
#include "lib/hello.h"
#include "lib/life.h"
#include "lib/parent.h"
#include "lib/record/guest.h"
#include "lib/recorder_settings.h"
#include "lib/spawn/address.h"
#include "lib/spawn/failure.h"
#include "lib/spawn/find.h"
#include "lib/spawn/pid_space.h"
#include "lib/spawn/spawn.h"

/* A program that execs itself may be here before its old server has closed the port. */
#define REBIND_TIMEOUT_NS (200 * NS_PER_MS)

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
	return s->error ? spawn_explain(s, path, o, d) : 0;
}

/*
 * No thread has a ring there, since no capture starts before the hello: they are unmapped. The head and the
 * strings stay reserved: a thread that is late in an annotation of an earlier server's capture may look there.
 */
static void drop_server(struct spawn *s)
{
	char *arena = (char *)s->arena;

	/* If it is gone its pid may be another process's. */
	if (!process_is_gone(s->pid))
		kill(s->pid, SIGKILL);
	control_stop();
	munmap(arena + arena_rings_offset(), s->arena_bytes - arena_rings_offset());
	madvise(arena, arena_rings_offset(), MADV_REMOVE);
}

/* |guest| has what others may ask for. */
static int fill_arena(const struct spawn *s, const struct ptap_server_options *o, uint32_t n_rings,
	uint32_t ring_bytes, struct diag *d)
{
	struct guest *guest = guest_get();
	int r;

	/* Before the strings are copied: what is registered in the old arena from here on nobody keeps (site.c). */
	atomic_exchange(&guest->arena, s->arena);
	r = arena_fill(s, o, n_rings, ring_bytes);
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

/* From a mapped arena to a server that answers; on failure only its first megabyte of addresses stays. */
static int connect_server(struct spawn *s, const struct ptap_server_options *o, uint32_t n_rings,
	uint32_t ring_bytes, struct diag *d)
{
	int r = fill_arena(s, o, n_rings, ring_bytes, d);

	if (!r)
		r = start_control(d);
	if (!r)
		r = hello_wait(s->arena, s->pid, d);
	if (r)
		drop_server(s);
	else
		begin_service(s->arena);
	return r;
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
	if (!pid_space_is_shared_with_children())
		return diag_set(d, -EOPNOTSUPP,
			"proftap server: this process called unshare(CLONE_NEWPID), and its next child "
			"becomes PID 1 there; start the server before that, or in the child");
	return 0;
}

struct plan {
	struct ptap_server_options o; /* settled: without what is in the two texts */
	struct recorder_text recorder;
	char address[LISTEN_ADDRESS_BYTES];
	char path[PATH_MAX]; /* of proftapd */
	int is_private;
};

static int make_plan(
	struct plan *p, const struct ptap_server_options *o, int is_private, struct diag *d)
{
	int r = check_host(d);

	p->o = *o;
	p->is_private = is_private;
	listen_address_strip(&p->o, p->address);
	if (r == 0 && !is_private)
		r = recorder_settings_find(&p->o, &p->recorder, d);
	return r ? r : find_proftapd(p->path, sizeof p->path, d);
}

static int run_plan(const struct plan *p, struct spawn *s, struct diag *d)
{
	uint32_t ring_bytes = arena_round_ring_bytes(p->o.ring_bytes);
	uint32_t n_rings = arena_count_rings(ring_bytes);
	int r = p->is_private ? 0 : listen_address_parse(&p->o, s, d);

	if (r == 0)
		r = run_spawn(s, p->path, &p->o, &n_rings, ring_bytes, d);
	return r ? r : connect_server(s, &p->o, n_rings, ring_bytes, d);
}

int launch_server(const struct ptap_server_options *o, int is_private, struct diag *d)
{
	/* Before there is a thread of ours. */
	int may_announce = parent_may_be_announced();
	struct plan plan;
	struct spawn *s;
	int r = make_plan(&plan, o, is_private, d);

	if (r)
		return r;
	s = spawn_new();
	if (!s)
		return diag_set(d, -ENOMEM, "proftap: out of memory");
	r = run_plan(&plan, s, d);
	if (r == 0 && may_announce)
		parent_announce(s->arena);
	spawn_free(s);
	return r;
}
