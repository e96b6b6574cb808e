/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ptap_snapshot(): a request in the arena, which the server turns into a run in its log directory.
 * The request's atomic word is in lib/wire/arena.h. The server clears an unfinished request when it
 * turns a recorder on. No lock of the library is taken: the lock's holder may wait for a disk.
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
#include "base/utf8.h"
#include "lib/control/follow.h"
#include "lib/control/server.h"
#include "lib/record/guest.h"

/* A busy server is not asleep: it checks for requests before it sleeps again. */
#define WAKE_TIMEOUT_NS (2 * NS_PER_MS)
#define WAKE_INTERVAL_US 20

/* The arena whose server records this process; NULL: none. */
static struct arena *find_recording_arena(void)
{
	struct guest *guest = guest_get();

	return atomic_load(&guest->is_serving) ? atomic_load(&guest->arena)
					       : follow_find_ancestor();
}

static int check_snapshot(const struct arena *arena, struct diag *d)
{
	if (!arena || !atomic_load(&arena->recorder_is_on))
		return diag_set(d, -ENODATA,
			"ptap_snapshot: no flight recorder runs; set .recorder, or PROFTAP_RECORDER=1");
	if (!arena->log_dir[0])
		return diag_set(d, -EOPNOTSUPP,
			"ptap_snapshot: the server has no log directory to write to; set .log_dir");
	return 0;
}

/* Reports an error of the previous run, or of turning the recorder on. */
static int report_trouble(const struct arena *arena, int trouble, struct diag *d)
{
	return diag_set(d, trouble < 0 ? trouble : -EIO,
		"ptap_snapshot: the server could not write to %s when it last tried (its journal has "
		"more); this one is tried, too",
		arena->log_dir);
}

/*
 * Repeats the wake-up: the server sleeps on the word |guest|, and misses a wake-up that comes just
 * before it sleeps.
 */
static void wake_server(struct arena *arena, uint32_t asked)
{
	int64_t give_up = monotonic_ns_by_call() + WAKE_TIMEOUT_NS;

	while (!futex_wake(&arena->guest, 1) && atomic_load(&arena->snapshot.word) == asked &&
		monotonic_ns_by_call() < give_up)
		usleep(WAKE_INTERVAL_US);
}

/*
 * Begins to fill a request and returns its word. 0: another thread fills one, or the server has not
 * finished the previous one.
 */
static uint32_t begin_snapshot(struct arena_snapshot *snapshot)
{
	uint32_t word = atomic_load(&snapshot->word);
	/* The clock is read after the word, so that the word is not in the future. */
	uint64_t now_ms = (uint64_t)(monotonic_ns_by_call() / NS_PER_MS);
	uint32_t filling = arena_snapshot_fill(word, now_ms);

	if (arena_snapshot_state(word) != ARENA_SNAPSHOT_NONE &&
		!arena_snapshot_is_stale(word, now_ms))
		return 0;
	return atomic_compare_exchange_strong(&snapshot->word, &word, filling) ? filling : 0;
}

/*
 * |why| is a copy, not the caller's memory: that may be unreadable, and a fault here would leave
 * the request half filled.
 */
static int ask_for_snapshot(struct arena *arena, const char *why, struct diag *d)
{
	struct arena_snapshot *snapshot = &arena->snapshot;
	uint32_t word = begin_snapshot(snapshot);
	uint32_t asked = arena_snapshot_next(word, ARENA_SNAPSHOT_ASKED);

	if (word)
		memcpy(snapshot->why[arena_snapshot_text(word)], why, sizeof snapshot->why[0]);
	if (!word || !atomic_compare_exchange_strong(&snapshot->word, &word, asked))
		return diag_set(
			d, -EBUSY, "ptap_snapshot: the snapshot before is still being written");
	wake_server(arena, asked);
	return 0;
}

int ptap_snapshot(const char *why)
{
	struct diag d = DIAG_INIT;
	_uncancelled_ int cancel_state = cancel_disable();
	char text[sizeof((struct arena_snapshot *)0)->why[0]] = "";
	struct arena *arena;
	int trouble = 0;
	int r;

	if (server_is_disabled())
		return 0;
	utf8_fit(text, sizeof text, why ? why : "");
	arena = find_recording_arena();
	r = check_snapshot(arena, &d);
	if (!r)
		trouble = atomic_load(&arena->snapshot.trouble);
	if (!r)
		r = ask_for_snapshot(arena, text, &d);
	if (!r && trouble)
		r = report_trouble(arena, trouble, &d);
	return r ? last_error_set(&d) : 0;
}
