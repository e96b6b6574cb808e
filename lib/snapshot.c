/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ptap_snapshot(): a request in the arena, which the server turns into a run in its log directory. The words are in
 * lib/wire/arena.h; what is left of a request the server clears when it turns a recorder on. No lock of the library is taken:
 * who holds one may wait for a disk.
 */
#define PTAP_IMPL_BUILDING
#include <errno.h>
#include <proftap/proftap.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/futex.h"
#include "lib/cancel.h"
#include "lib/follow.h"
#include "lib/last_error.h"
#include "lib/record/guest.h"
#include "lib/server.h"

/* A server that is at work, and not asleep, looks before it sleeps again. */
#define WAKE_TIMEOUT_NS (2 * NS_PER_MS)
#define WAKE_INTERVAL_US 20

/* Whose server records this process; NULL: none. */
static struct arena *find_arena(void)
{
	struct guest *guest = guest_get();

	return atomic_load(&guest->is_serving) ? atomic_load(&guest->arena)
					       : follow_find_ancestor();
}

static int check(const struct arena *arena, struct diag *d)
{
	if (!arena || !atomic_load(&arena->recorder_is_on))
		return diag_set(d, -ENODATA,
			"ptap_snapshot: no flight recorder runs; set .recorder, or PROFTAP_RECORDER=1");
	if (!arena->log_dir[0])
		return diag_set(d, -EOPNOTSUPP,
			"ptap_snapshot: the server has no log directory to write to; set .log_dir");
	return 0;
}

/* It sleeps on the word |guest|: a wake-up that comes just before it does so is missed. */
static void wake_server(struct arena *arena)
{
	int64_t give_up = monotonic_ns_by_call() + WAKE_TIMEOUT_NS;

	while (!futex_wake(&arena->guest, 1) &&
		atomic_load(&arena->snapshot.state) == ARENA_SNAPSHOT_ASKED &&
		monotonic_ns_by_call() < give_up)
		usleep(WAKE_INTERVAL_US);
}

static int ask(struct arena *arena, const char *why, struct diag *d)
{
	struct arena_snapshot *snapshot = &arena->snapshot;
	uint32_t none = ARENA_SNAPSHOT_NONE;

	if (!atomic_compare_exchange_strong(&snapshot->state, &none, ARENA_SNAPSHOT_FILLING))
		return diag_set(
			d, -EBUSY, "ptap_snapshot: the snapshot before is still being written");
	snprintf(snapshot->why, sizeof snapshot->why, "%s", why ? why : "");
	atomic_store(&snapshot->state, ARENA_SNAPSHOT_ASKED);
	wake_server(arena);
	return 0;
}

int ptap_snapshot(const char *why)
{
	struct diag d = DIAG_INIT;
	_uncancelled_ int cancel_state = cancel_disable();
	struct arena *arena;
	int r;

	if (server_is_disabled())
		return 0;
	arena = find_arena();
	r = check(arena, &d);
	if (!r)
		r = ask(arena, why, &d);
	return r ? last_error_set(&d) : 0;
}
