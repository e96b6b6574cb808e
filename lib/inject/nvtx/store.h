/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs register with NVTX for good: memory that is only ever taken, and shelves to find things in it again.
 *
 * No locks: a child that is forked in the middle of a registration can go on registering. No malloc(): a program's own may
 * be annotated.
 */
#ifndef INJECT_NVTX_STORE_H
#define INJECT_NVTX_STORE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Of all that is kept. */
#define STORE_MAX_BYTES (16u << 20)
/* One thing is no larger. */
#define STORE_MAX_PIECE (128u << 10)

/* Zeroed memory for |n| bytes, 8-byte aligned, or NULL: there is no more. Lifetime: the process's. Threads: any. */
void *store_take(size_t n);

/* A number for what begins at |p|, more than 0 and less than 2^21. */
uint32_t store_get_place(const void *p);
/* What is there, if |n| bytes of the store are, else NULL. |place| may be any number. */
void *store_find(uint32_t place, size_t n);

/* --- shelves ------------------------------------------------------------------------------- */

struct shelf_item {
	struct shelf_item *next;
	uint64_t hash;
};

/* SHELF_INIT is the empty state. */
struct shelf {
	struct shelf_item *_Atomic *_Atomic rows; /* NULL until something is added */
	uint32_t n_rows;
};

/* For about |n| things. */
#define SHELF_INIT(n)          \
	{                      \
		.n_rows = (n), \
	}

/* Whether |item| is what |key| says. */
typedef int shelf_compare(const struct shelf_item *item, const void *key);

/* NULL: not there. Threads: any. */
struct shelf_item *shelf_find(
	const struct shelf *shelf, uint64_t hash, shelf_compare *compare, const void *key);
/*
 * Puts |item| there, unless another one is that is what |key| says: returns the one that is there. NULL: there is no
 * more memory.
 */
struct shelf_item *shelf_add(struct shelf *shelf, struct shelf_item *item, uint64_t hash,
	shelf_compare *compare, const void *key);

/* A hash of |n| bytes, going on from |hash|; 0 to begin with. */
uint64_t shelf_hash(uint64_t hash, const void *bytes, size_t n);

#endif
