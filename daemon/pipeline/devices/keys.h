/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of one size, each kept once and numbered from 0 in the order of first use. A key usually
 * equals the last one that was looked up, so that is compared first.
 */
#ifndef DAEMON_KEYS_H
#define DAEMON_KEYS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/hash.h"

struct keys {
	const struct hash_seed *seed; /* random, because the target chooses the keys */
	uint8_t *v; /* the keys, one after the other */
	uint32_t n;
	uint32_t n_bytes; /* size of a key: a multiple of 8; any padding is zero */
	size_t n_allocated; /* bytes */
	struct hash_table table; /* from keys to their numbers */
	uint32_t last; /* the number of the last key that was looked up */
};

#define KEYS_NONE UINT32_MAX

void keys_init(struct keys *k, uint32_t key_bytes);
void keys_deinit(struct keys *k);

static inline const void *keys_get(const struct keys *k, uint32_t number)
{
	return k->v + (size_t)number * k->n_bytes;
}

uint32_t keys_intern_other(struct keys *k, const void *key);

/* Returns the number of |key|, and adds it if it is new; KEYS_NONE when out of memory. */
static inline uint32_t keys_intern(struct keys *k, const void *key)
{
	if (k->last < k->n && memcmp(keys_get(k, k->last), key, k->n_bytes) == 0)
		return k->last;
	return keys_intern_other(k, key);
}

#endif
