/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory in chunks, each mapped at its first use; see store.h. Each piece is taken in one atomic
 * step, so that two threads never have the same; the rest of a chunk is lost if the next piece does
 * not fit there.
 */
#include "lib/inject/nvtx/store.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define CHUNK_BYTES (256u << 10)
#define N_CHUNKS (STORE_MAX_BYTES / CHUNK_BYTES)

static char *_Atomic chunks[N_CHUNKS];
static _Atomic uint32_t used_bytes = 8; /* begins above 0, so that no place is 0 */

/* Returns the chunk |i|, which is mapped at the first call; NULL: no memory. */
static char *open_chunk(uint32_t i)
{
	char *chunk = atomic_load_explicit(&chunks[i], memory_order_acquire);
	int saved = errno;
	void *mapped;

	if (chunk)
		return chunk;
	mapped =
		mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	errno = saved;
	if (mapped == MAP_FAILED)
		return NULL;
	if (atomic_compare_exchange_strong(&chunks[i], &chunk, mapped))
		return mapped;
	munmap(mapped, CHUNK_BYTES);
	return chunk;
}

void *store_take(size_t n)
{
	uint32_t need = (uint32_t)(n + 7) & ~7u;
	uint32_t before = atomic_load(&used_bytes);
	uint32_t at;
	char *chunk;

	if (n > STORE_MAX_PIECE)
		return NULL;
	do {
		at = before;
		if (at / CHUNK_BYTES != (at + need - 1) / CHUNK_BYTES)
			at = (at / CHUNK_BYTES + 1) * CHUNK_BYTES;
		if (at > STORE_MAX_BYTES - need)
			return NULL;
	} while (!atomic_compare_exchange_weak(&used_bytes, &before, at + need));
	chunk = open_chunk(at / CHUNK_BYTES);
	return chunk ? chunk + at % CHUNK_BYTES : NULL;
}

uint32_t store_get_place(const void *p)
{
	for (uint32_t i = 0; i < N_CHUNKS; i++) {
		char *chunk = atomic_load_explicit(&chunks[i], memory_order_acquire);
		size_t offset = chunk ? (size_t)((const char *)p - chunk) : CHUNK_BYTES;

		if (offset < CHUNK_BYTES)
			return (i * CHUNK_BYTES + (uint32_t)offset) / 8;
	}
	return 0;
}

void *store_find(uint32_t place, size_t n)
{
	uint64_t at = (uint64_t)place * 8;
	char *chunk;

	if (!place || at + n > atomic_load(&used_bytes) || at % CHUNK_BYTES + n > CHUNK_BYTES)
		return NULL;
	chunk = atomic_load_explicit(&chunks[at / CHUNK_BYTES], memory_order_acquire);
	return chunk ? chunk + at % CHUNK_BYTES : NULL;
}

/* --- shelves ------------------------------------------------------------------------------- */

/* Searches from |item| up to |end|. */
static struct shelf_item *search_row(struct shelf_item *item, const struct shelf_item *end,
	uint64_t hash, shelf_compare *compare, const void *key)
{
	for (; item != end; item = item->next)
		if (item->hash == hash && compare(item, key))
			return item;
	return NULL;
}

struct shelf_item *shelf_find(
	const struct shelf *shelf, uint64_t hash, shelf_compare *compare, const void *key)
{
	struct shelf_item *_Atomic *rows = atomic_load_explicit(&shelf->rows, memory_order_acquire);

	return rows ? search_row(atomic_load_explicit(
					 &rows[hash % shelf->n_rows], memory_order_acquire),
			      NULL, hash, compare, key)
		    : NULL;
}

static struct shelf_item *_Atomic *open_shelf_rows(struct shelf *shelf)
{
	struct shelf_item *_Atomic *rows = atomic_load_explicit(&shelf->rows, memory_order_acquire);
	struct shelf_item *_Atomic *taken;

	if (rows)
		return rows;
	taken = store_take(shelf->n_rows * sizeof *taken);
	if (!taken || !atomic_compare_exchange_strong(&shelf->rows, &rows, taken))
		return rows;
	return taken;
}

struct shelf_item *shelf_add(struct shelf *shelf, struct shelf_item *item, uint64_t hash,
	shelf_compare *compare, const void *key)
{
	struct shelf_item *_Atomic *row = open_shelf_rows(shelf);
	struct shelf_item *first;
	struct shelf_item *seen = NULL;

	if (!row)
		return NULL;
	row += hash % shelf->n_rows;
	first = atomic_load_explicit(row, memory_order_acquire);
	item->hash = hash;
	do {
		struct shelf_item *other = search_row(first, seen, hash, compare, key);

		if (other)
			return other;
		item->next = seen = first;
	} while (!atomic_compare_exchange_weak_explicit(
		row, &first, item, memory_order_acq_rel, memory_order_acquire));
	return item;
}

/* FNV-1a. */
uint64_t shelf_hash(uint64_t hash, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;

	hash ^= UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	return hash;
}
