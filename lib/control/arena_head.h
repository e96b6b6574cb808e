/* SPDX-License-Identifier: Apache-2.0 */
/* A new arena: how large, and what its first pages say. */
#ifndef LIB_ARENA_HEAD_H
#define LIB_ARENA_HEAD_H

#include <stdint.h>

struct arena;
struct ptap_server_options;
struct spawn;

/* What was asked for, rounded up to a power of two within the bounds; 0: 1 MiB. */
uint32_t arena_round_ring_bytes(uint32_t bytes);

/* As many rings as the limits on files (a memfd is one) and address space let there be. */
uint32_t arena_count_rings(uint32_t ring_bytes);

/* What the head of an arena says, but for its strings; |head| is zeroed. |o| has a name. */
void arena_describe(struct arena *head, const struct spawn *s, const struct ptap_server_options *o,
	uint32_t n_rings, uint32_t ring_bytes);

/* Makes the first part of the arena writable. 0 or a negative errno. */
int arena_open_head(struct arena *arena);

/* The arena whose string ids the program's sites hold: a new one begins with its strings. NULL: none. */
struct arena *arena_get_last(void);

/* All of it for the arena of |s|. 0 or a negative errno. */
int arena_fill(const struct spawn *s, const struct ptap_server_options *o, uint32_t n_rings,
	uint32_t ring_bytes);

/* From now on call sites hold ids of this arena. Under the guest's lock, as are the others. */
void arena_keep_strings(struct arena *arena);

#endif
