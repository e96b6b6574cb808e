/* SPDX-License-Identifier: Apache-2.0 */
/* This process's arenas; see arena.h. */
#define PTAP_IMPL_BUILDING
#include "lib/control/arena.h"

#include <errno.h>
#include <proftap/proftap.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/env.h"
#include "base/utf8.h"
#include "lib/collect/plugin.h"
#include "lib/control/parent.h"
#include "lib/record/guest.h"
#include "lib/record/map.h"
#include "lib/spawn/spawn.h"
#include "lib/wire/arena.h"

/*
 * The arena whose string ids the program's call sites hold. It outlives stop and fork (the mapping
 * stays), so that a new arena can begin with the same strings. The guest's lock protects it.
 */
static struct arena *last_arena;

uint32_t arena_round_ring_bytes(uint32_t bytes)
{
	uint32_t rounded = ARENA_MIN_RING_BYTES;

	if (!bytes)
		bytes = 1u << 20;
	while (rounded < bytes && rounded < ARENA_MAX_RING_BYTES)
		rounded *= 2;
	return rounded;
}

uint32_t arena_count_rings(uint32_t ring_bytes)
{
	uint64_t limit = UINT64_MAX;
	struct rlimit r;
	uint32_t n = ARENA_MAX_RINGS;

	if (getrlimit(RLIMIT_FSIZE, &r) == 0 && r.rlim_cur != RLIM_INFINITY)
		limit = r.rlim_cur;
	if (getrlimit(RLIMIT_AS, &r) == 0 && r.rlim_cur != RLIM_INFINITY && r.rlim_cur / 4 < limit)
		limit = r.rlim_cur / 4;
	while (n > 1 && arena_size_bytes(n, ring_bytes) > limit)
		n /= 2;
	return n;
}

static uint16_t read_log_level(void)
{
	static const char *const names[] = {"error", "warn", "info", "debug"};
	const char *asked = env_get(ENV_PROFTAP_LOG);

	for (uint16_t i = 0; asked && i < 4; i++)
		if (strcmp(asked, names[i]) == 0)
			return i;
	return 1;
}

static int copy_last_strings(struct arena *arena)
{
	uint32_t used = last_arena ? atomic_load(&last_arena->strings_used) : 8;
	int r = map_populate(arena_strings(arena), used);

	if (r)
		return r;
	if (last_arena)
		memcpy(arena_strings(arena), arena_strings(last_arena), used);
	atomic_store(&arena->strings_used, used);
	return 0;
}

void arena_keep_strings(struct arena *arena)
{
	last_arena = arena;
}

struct arena *arena_get_last(void)
{
	return last_arena;
}

int arena_open_head(struct arena *arena)
{
	if (mprotect(arena, arena_rings_offset(), PROT_READ | PROT_WRITE))
		return -errno;
	return map_populate(arena, ARENA_BASE_BYTES);
}

static uint32_t choose_arena_flags(const struct ptap_server_options *o)
{
	return (guest_may_read_ticks() ? ARENA_TICKS_ALLOWED : 0) |
	       (o->any_local_user ? ARENA_ANY_LOCAL_USER : 0) |
	       (o->follow_fork || env_is_on(ENV_PROFTAP_FOLLOW_FORK) ? ARENA_FOLLOW_FORK : 0) |
	       (o->recorder ? ARENA_RECORDER : 0) | (plugins_note() ? ARENA_COLLECTS : 0);
}

/*
 * The path must be absolute: the server has another working directory. A path that is too long is
 * left out.
 */
static void set_arena_log_dir(struct arena *head, const char *log_dir)
{
	char here[sizeof head->log_dir] = "";
	int n = 0;

	if (log_dir && log_dir[0] && (log_dir[0] == '/' || getcwd(here, sizeof here)))
		n = snprintf(head->log_dir, sizeof head->log_dir, "%s%s%s", here,
			here[0] ? "/" : "", log_dir);
	if (n >= (int)sizeof head->log_dir)
		head->log_dir[0] = '\0';
}

void arena_describe(struct arena *head, const struct spawn *s, const struct ptap_server_options *o,
	uint32_t n_rings, uint32_t ring_bytes)
{
	head->version_low = ARENA_VERSION_LOW;
	head->version_high = ARENA_VERSION_HIGH;
	head->flags = choose_arena_flags(o);
	head->n_rings = n_rings;
	head->ring_bytes = ring_bytes;
	head->size_bytes = s->arena_bytes;
	head->pid = getpid();
	head->port = s->port;
	head->log_level = read_log_level();
	head->max_capture_bytes = o->max_capture_bytes;
	utf8_fit(head->name, sizeof head->name, o->name);
	snprintf(head->address, sizeof head->address, "%s", o->address ? o->address : "127.0.0.1");
	set_arena_log_dir(head, o->log_dir);
	snprintf(head->recorder_options, sizeof head->recorder_options, "%s",
		o->recorder_options ? o->recorder_options : "");
	head->magic = ARENA_MAGIC;
}

int arena_fill(const struct spawn *s, const struct ptap_server_options *o, uint32_t n_rings,
	uint32_t ring_bytes)
{
	struct ptap_server_options named = *o;
	int r = arena_open_head(s->arena);

	if (r)
		return r;
	if (!named.name)
		named.name = program_invocation_short_name;
	arena_describe(s->arena, s, &named, n_rings, ring_bytes);
	parent_describe(s->arena);
	return copy_last_strings(s->arena);
}

/*
 * The last arena with all its rings. In a forked child this is still the parent's arena, which
 * differs from the one that the child passes to arena_rings_shed().
 */
static struct {
	struct arena *arena;
	uint32_t n_rings;
	uint32_t ring_bytes;
} mapped;

void arena_rings_note(struct arena *arena)
{
	mapped.arena = arena;
	mapped.n_rings = arena->n_rings;
	mapped.ring_bytes = arena->ring_bytes;
}

/*
 * Returns whether no thread has the ring |i|. A late thread either finds it bad or has taken it:
 * ring_claim() in lib/record/ring_claim.c.
 */
static bool mark_ring_bad(struct arena *arena, uint32_t i)
{
	uint8_t state = RING_FREE;

	return atomic_compare_exchange_strong(&arena->ring_state[i], &state, RING_BAD) ||
	       state == RING_BAD;
}

void arena_rings_shed(struct arena *arena)
{
	uint32_t n = mapped.n_rings;

	if (!arena || arena != mapped.arena)
		return;
	while (n && mark_ring_bad(arena, n - 1))
		n--;
	if (n < mapped.n_rings)
		munmap(arena_ring(arena, n, mapped.ring_bytes),
			(mapped.n_rings - n) * ring_stride_bytes(mapped.ring_bytes));
	mapped.arena = NULL;
}
