/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This process's arenas: the size and the first pages of a new one, and the rings of one whose
 * server has ended. Every function runs under the guest's lock.
 */
#ifndef LIB_CONTROL_ARENA_H
#define LIB_CONTROL_ARENA_H

#include <stdint.h>

struct arena;
struct ptap_server_options;
struct spawn;

/* Rounds |bytes| up to a power of two within the bounds; 0 means 1 MiB. */
uint32_t arena_round_ring_bytes(uint32_t bytes);

/* The most rings that the limits on a file's size (a memfd counts) and on address space allow. */
uint32_t arena_count_rings(uint32_t ring_bytes);

/* Fills the head of an arena, except for its strings; |head| is zeroed. o->name is not NULL. */
void arena_describe(struct arena *head, const struct spawn *s, const struct ptap_server_options *o,
	uint32_t n_rings, uint32_t ring_bytes);

/* Makes the first part of the arena writable. 0 or a negative errno. */
int arena_open_head(struct arena *arena);

/* Opens the arena of |s| and fills its head and its strings. 0 or a negative errno. */
int arena_fill(const struct spawn *s, const struct ptap_server_options *o, uint32_t n_rings,
	uint32_t ring_bytes);

/* From now on the program's call sites hold string ids of |arena|. */
void arena_keep_strings(struct arena *arena);

/*
 * The arena whose string ids the call sites hold; a new arena begins with its strings. NULL: none.
 */
struct arena *arena_get_last(void);

/*
 * Threads may still be in the middle of an annotation when their arena's server has ended. So a
 * ring that a thread has, or could still take, stays mapped for good. The rings behind the last one
 * that was taken are first marked as taken, and then unmapped.
 */

/* Records that |arena|, whose head is filled, is this process's, with all its rings. */
void arena_rings_note(struct arena *arena);
/*
 * Unmaps the rings behind the last one that was taken. |arena| is NULL or this process's last one,
 * and has no server any more. A second call does nothing.
 */
void arena_rings_shed(struct arena *arena);

#endif
