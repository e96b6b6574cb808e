/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The string table; see strings.h. Space is taken in one atomic step, so two threads never write to
 * the same bytes. A thread that dies in between, or gets no memory, leaves a hole that no record
 * refers to.
 */
#define PTAP_IMPL_BUILDING
#include "lib/record/strings.h"

#include <proftap/proftap.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"
#include "lib/record/emit.h"
#include "lib/record/guest.h"
#include "lib/record/map.h"
#include "lib/wire/arena.h"

#define PAGE_BYTES 4096u

/*
 * Populates the table up to |end|, a page at a time, so that most names cost no system call. The
 * thread with the first text in a page need not be the first to get here, so the range begins at
 * |strings_ready|, below which there is memory.
 */
static int populate_strings(struct arena *arena, uint32_t end)
{
	uint32_t ready = atomic_load_explicit(&arena->strings_ready, memory_order_relaxed);
	uint32_t wanted = (end + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
	int r;

	if (end <= ready)
		return 0;
	r = map_populate(arena_strings(arena) + ready, wanted - ready);
	if (r)
		return r;
	while (ready < wanted &&
		!atomic_compare_exchange_weak_explicit(&arena->strings_ready, &ready, wanted,
			memory_order_relaxed, memory_order_relaxed))
		;
	return 0;
}

uint32_t strings_append(struct arena *arena, const char *text)
{
	uint32_t n_whole = (uint32_t)strnlen(text, STRING_MAX_BYTES + 1u);
	bool is_cut = n_whole > STRING_MAX_BYTES;
	uint32_t n_kept =
		is_cut ? (uint32_t)utf8_cut(text, STRING_MAX_BYTES - UTF8_CUT_BYTES) : n_whole;
	uint32_t n = n_kept + (is_cut ? (uint32_t)UTF8_CUT_BYTES : 0);
	uint32_t need = (uint32_t)(sizeof n + n + 7u) & ~7u;
	uint32_t at = atomic_load_explicit(&arena->strings_used, memory_order_relaxed);
	char *to;

	do {
		if (at > ARENA_STRINGS_BYTES - need)
			return STRING_ID_LOST;
	} while (!atomic_compare_exchange_weak_explicit(
		&arena->strings_used, &at, at + need, memory_order_relaxed, memory_order_relaxed));
	if (populate_strings(arena, at + need))
		return STRING_ID_LOST;
	to = arena_strings(arena) + at;
	memcpy(to + sizeof n, text, n_kept);
	memcpy(to + sizeof n + n_kept, UTF8_CUT, n - n_kept);
	memcpy(to, &n, sizeof n);
	return at / 8u;
}

/* --- call sites ---------------------------------------------------------------------------- */

uint32_t site_register(uint32_t *kept, const char *text)
{
	/* The arena that the record goes to, even if another server runs by now. */
	struct arena *arena = thread_self.arena;
	uint32_t id = strings_append(arena, text);

	/*
	 * If the exchange fails, the server was replaced in between: nothing reads that record, and
	 * the id means another text now. This is an exchange, not a load, for its order with the
	 * exchange in fill_arena() (lib/control/handshake.c): either that one came first, or its
	 * later copy of the strings has the text.
	 */
	if (atomic_compare_exchange_strong(&guest_get()->arena, &arena, arena))
		__atomic_store_n(kept, id, __ATOMIC_RELEASE);
	return id;
}
