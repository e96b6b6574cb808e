/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hashing with a seed of the process's own: who chooses the keys (a target, the writer of a file) cannot choose ones that meet in a
 * slot of a table, which would make each search through it as long as the table. May be called by any thread.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdint.h>

struct hash_seed {
	uint64_t start; /* what a key's sum begins with */
	uint64_t factor; /* odd */
};

/* Made when it is first asked for; the same for as long as the process runs. */
const struct hash_seed *hash_seed(void);

/*
 * The sum of |sum| and |word|. Both halves of the product count: the low one alone would pass a difference in the top bit on unchanged,
 * whatever the factor.
 */
static inline uint64_t hash_mix(const struct hash_seed *seed, uint64_t sum, uint64_t word)
{
	unsigned __int128 product = (unsigned __int128)(sum ^ word) * seed->factor;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* What the sum of all words of a key is folded to. */
static inline uint32_t hash_end(const struct hash_seed *seed, uint64_t sum)
{
	sum = hash_mix(seed, sum, seed->start);
	return (uint32_t)(sum ^ sum >> 32);
}

#endif
