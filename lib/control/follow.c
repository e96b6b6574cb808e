/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Following forks; see follow.h. The guest page is wiped in a child. So the facts that the child
 * needs lie in private memory here, and in the arena of the process that started the server. The
 * child has inherited that arena and writes nothing there but its failure to join.
 */
#define PTAP_IMPL_BUILDING
#include "lib/control/follow.h"

#include <errno.h>
#include <proftap/proftap.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/futex.h"
#include "lib/control/arena.h"
#include "lib/control/control.h"
#include "lib/control/server.h"
#include "lib/record/guest.h"
#include "lib/spawn/join.h"

/*
 * The arena of the process that started the server; it survives fork. NULL: children do not follow.
 * Written under the guest's lock.
 */
static struct arena *_Atomic ancestor;
/* The server of |ancestor|. */
static int32_t server_pid;
static uid_t server_uid;

static bool is_server_alive(void)
{
	return (atomic_load(&ancestor->owner) & ARENA_TID_MASK) != 0;
}

/* Runs in the child, before fork() returns there. */
static void mark_child(void)
{
	struct guest *guest = guest_get();

	if (!ancestor || !is_server_alive())
		return;
	guest->followed_pid = getpid();
	atomic_store(&guest->word, GUEST_WORD_FOLLOW);
}

static unsigned choose_timeout_ms(void)
{
	bool has_timed_out =
		atomic_load(&ancestor->join_error) == -ETIMEDOUT &&
		atomic_load(&ancestor->join_error_heard) == atomic_load(&ancestor->n_joins_heard);

	return has_timed_out ? JOIN_SHORT_TIMEOUT_MS : JOIN_TIMEOUT_MS;
}

static void fill_join(struct join *j, uint32_t n_rings)
{
	const struct ptap_server_options o = {.name = ancestor->name};
	struct arena *last = arena_get_last();

	j->spawn.arena_bytes = arena_size_bytes(n_rings, ancestor->ring_bytes);
	memset(&j->head, 0, sizeof j->head);
	arena_describe(&j->head, &j->spawn, &o, n_rings, ancestor->ring_bytes);
	j->strings = arena_strings(last);
	j->strings_bytes = atomic_load(&last->strings_used);
	atomic_store(&j->head.strings_used, j->strings_bytes);
	atomic_store(&j->head.guest, ARENA_GUEST_COMING);
	memcpy(j->name, ancestor->join_name, sizeof j->name - 1);
	j->server_pid = server_pid;
	j->server_uid = server_uid;
	j->server_owner = &ancestor->owner;
	j->request.magic = JOIN_MAGIC;
	j->request.version = JOIN_VERSION;
	j->request.pid = getpid();
	j->timeout_ms = choose_timeout_ms();
	j->n_heard = &ancestor->n_joins_heard;
	j->n_heard_before = atomic_load(j->n_heard);
	j->n_waits = 0;
	memcpy(j->request.secret, ancestor->join_secret, sizeof j->request.secret);
}

/*
 * Joins. The address space may be smaller than the limits promise, so fewer rings are tried on
 * failure.
 */
static int join_with_rings_that_fit(struct join *j)
{
	uint32_t n_rings = arena_count_rings(ancestor->ring_bytes);
	int r;

	/* The server accepts no more rings than the ancestor's arena has. */
	if (n_rings > ancestor->n_rings)
		n_rings = ancestor->n_rings;
	do {
		fill_join(j, n_rings);
		r = join_run(j);
		n_rings /= 2;
	} while (r == -ENOMEM && n_rings);
	return r;
}

/*
 * Waits until the recording has started here, so that the annotation that joins is part of the
 * running capture. The server sends the start before its hello.
 */
static void wait_for_start(struct arena *arena, unsigned timeout_ms)
{
	int64_t give_up = monotonic_ns_by_call() + timeout_ms * NS_PER_MS;
	uint32_t ack;

	while (atomic_load(&arena->hello) == ARENA_HELLO_NONE && monotonic_ns_by_call() < give_up)
		futex_wait_until(&arena->hello, ARENA_HELLO_NONE, give_up);
	while ((ack = atomic_load(&arena->ack)) != atomic_load(&arena->command) &&
		monotonic_ns_by_call() < give_up)
		futex_wait_until(&arena->ack, ack, give_up);
}

static int start_joined_guest(const struct join *j)
{
	struct guest *guest = guest_get();
	struct arena *arena = j->spawn.arena;
	int r = arena_open_head(arena);

	guest->arena = arena;
	/* From here on the control thread owns the word. */
	atomic_store(&guest->word, 0);
	if (r == 0)
		r = control_start();
	if (r) {
		guest->arena = NULL;
		return r;
	}
	arena_keep_strings(arena);
	arena_rings_note(arena);
	return 0;
}

static int join_server(void)
{
	struct join *j;
	int r;

	if (!pid_space_is_shared_with_children())
		return -EOPNOTSUPP;
	j = join_new();
	r = j ? join_with_rings_that_fit(j) : -ENOMEM;
	if (r == 0)
		r = start_joined_guest(j);
	if (r == 0 && j->answer.is_recording)
		wait_for_start(j->spawn.arena, j->timeout_ms);
	join_free(j);
	return r;
}

/*
 * Runs on any thread, in the middle of an annotation. Once in a process: a join that failed is not
 * tried again.
 */
static void join_once(void)
{
	_uncancelled_ int cancel_state = cancel_disable();
	struct guest *guest = guest_get();
	int saved = errno;
	int r;

	/* A child of vfork() shares this memory, and its join would end with its exec. */
	if (getpid() != guest->followed_pid || !lock_try(&guest->lock))
		return;
	if (atomic_load(&guest->word) == GUEST_WORD_FOLLOW) {
		r = join_server();
		if (r) {
			atomic_store(&guest->word, 0);
			atomic_store(
				&ancestor->join_error_heard, atomic_load(&ancestor->n_joins_heard));
			atomic_store(&ancestor->join_error, r);
			atomic_fetch_add(&ancestor->n_join_failures, 1);
		}
	}
	lock_release(&guest->lock);
	errno = saved;
}

void follow_begin(struct arena *arena)
{
	static bool is_registered;

	if (!(arena->flags & ARENA_FOLLOW_FORK) || !arena->join_name[0])
		return;
	guest_join = join_once;
	/* Without the handler children read the level 0 and do not follow. */
	if (!is_registered && pthread_atfork(NULL, NULL, mark_child) == 0)
		is_registered = true;
	server_pid = guest_get()->server_pid;
	server_uid = geteuid();
	ancestor = arena;
}

const struct arena *follow_get_ancestor(void)
{
	struct guest *guest = guest_get();
	bool is_followed =
		atomic_load(&guest->word) == GUEST_WORD_FOLLOW || guest->has_control_thread;

	return ancestor && guest->followed_pid == getpid() && is_followed && is_server_alive()
		       ? ancestor
		       : NULL;
}

struct arena *follow_find_ancestor(void)
{
	struct arena *arena = atomic_load(&ancestor);
	bool is_alive = arena && (atomic_load(&arena->owner) & ARENA_TID_MASK);

	return is_alive && guest_get()->followed_pid == getpid() ? arena : NULL;
}

void follow_end(void)
{
	ancestor = NULL;
	if (atomic_load(&guest_get()->word) == GUEST_WORD_FOLLOW)
		atomic_store(&guest_get()->word, 0);
}
