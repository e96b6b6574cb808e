/* SPDX-License-Identifier: Apache-2.0 */
/* Texts by id; see string_table.h. */
#include "daemon/target/string_table.h"

#include <stddef.h>

#include "lib/wire/arena.h"

/* The text of an id begins at id * ID_BYTES in the table. */
#define ID_BYTES 8u

uint32_t string_table_count_ids(struct arena *arena)
{
	uint32_t used = atomic_load(&arena->strings_used);

	return (used < ARENA_STRINGS_BYTES ? used : ARENA_STRINGS_BYTES) / ID_BYTES;
}

const char *string_table_find(struct arena *arena, uint32_t n_ids, uint32_t id, uint32_t *n_out)
{
	const char *table = arena_strings(arena);
	uint32_t at = id * ID_BYTES;
	uint32_t n;

	if (id == 0 || id >= n_ids || at + sizeof n > ARENA_STRINGS_BYTES)
		return NULL;
	/* Read once: the target may write it meanwhile. */
	n = __atomic_load_n((const uint32_t *)(table + at), __ATOMIC_RELAXED);
	if (n > ARENA_STRINGS_BYTES - at - sizeof n)
		return NULL;
	*n_out = n;
	return table + at + sizeof n;
}
