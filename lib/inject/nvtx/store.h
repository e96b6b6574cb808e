/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for the program's NVTX registrations, which is never freed, and shelves (hash tables) to
 * find them again.
 *
 * There are no locks: a child that is forked in the middle of a registration can go on registering.
 * malloc() is not called: a program's own malloc() may be annotated with NVTX.
 */
#ifndef INJECT_NVTX_STORE_H
#define INJECT_NVTX_STORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* bytes, of the whole store */
#define STORE_MAX_BYTES (16u << 20)
/* bytes, of one piece */
#define STORE_MAX_PIECE (128u << 10)

/*
 * Returns |n| zeroed bytes, 8-byte aligned, or NULL: the store is full. Lifetime: the process's.
 * Threads: any.
 */
void *store_take(size_t n);

/* The number of the piece that begins at |p|: more than 0 and less than 2^21. */
uint32_t store_get_place(const void *p);
/*
 * The piece whose number is |place|, if the store has |n| bytes there, else NULL. |place| may be
 * any number.
 */
void *store_find(uint32_t place, size_t n);

/* --- shelves ------------------------------------------------------------------------------- */

struct shelf_item {
	struct shelf_item *next;
	uint64_t hash;
};

/* A hash table without removal. SHELF_INIT is the empty state. */
struct shelf {
	struct shelf_item *_Atomic *_Atomic rows; /* NULL until something is added */
	uint32_t n_rows;
};

/* A shelf for about |n| items. */
#define SHELF_INIT(n)          \
	{                      \
		.n_rows = (n), \
	}

/* Returns true if |item| has the key |key|. */
typedef bool shelf_compare(const struct shelf_item *item, const void *key);

/* Returns NULL if there is no such item. Threads: any. */
struct shelf_item *shelf_find(
	const struct shelf *shelf, uint64_t hash, shelf_compare *compare, const void *key);
/*
 * Adds |item|, unless another item has the key. Returns the item that the shelf then has; NULL: no
 * memory.
 */
struct shelf_item *shelf_add(struct shelf *shelf, struct shelf_item *item, uint64_t hash,
	shelf_compare *compare, const void *key);

/* A hash of |n| bytes, continued from |hash|; 0 to begin with. */
uint64_t shelf_hash(uint64_t hash, const void *bytes, size_t n);

#endif
