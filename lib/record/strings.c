/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The string table; see strings.h. Space is taken with one atomic addition, so two threads never write
 * to the same bytes; a thread that dies in between, or gets no memory, leaves a hole that no record refers to.
 */
#include "lib/record/strings.h"

#include <stdatomic.h>
#include <string.h>

#include "lib/record/map.h"
#include "lib/wire/arena.h"

uint32_t strings_append(struct arena *arena, const char *text)
{
	uint32_t n = (uint32_t)strnlen(text, STRING_MAX_BYTES);
	uint32_t need = (uint32_t)(sizeof n + n + 7u) & ~7u;
	uint32_t at = atomic_load_explicit(&arena->strings_used, memory_order_relaxed);
	char *to;

	do {
		if (at > ARENA_STRINGS_BYTES - need)
			return STRING_ID_LOST;
	} while (!atomic_compare_exchange_weak_explicit(
		&arena->strings_used, &at, at + need, memory_order_relaxed, memory_order_relaxed));
	to = arena_strings(arena) + at;
	if (map_populate(to, need))
		return STRING_ID_LOST;
	memcpy(to + sizeof n, text, n);
	memcpy(to, &n, sizeof n);
	return at / 8u;
}
