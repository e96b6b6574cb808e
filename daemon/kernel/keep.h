/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a spooled capture must stay in memory until its end: names, stragglers, the places of runs, the marks of async
 * spans, the samples of counters, what devices did. A share of the capture's memory; what does not fit is left out and counted.
 *
 * Threads: any.
 */
#ifndef DAEMON_KEEP_H
#define DAEMON_KEEP_H

#include <stdatomic.h>
#include <stdint.h>

struct keep {
	uint64_t max_bytes; /* UINT64_MAX: no limit */
	_Atomic uint64_t used_bytes;
	_Atomic uint64_t text_bytes; /* of these: of names and texts */
	const _Atomic uint64_t
		*others; /* bytes that somebody else uses of the same; NULL: nobody does */
};

/* 1: there is room for |bytes| more, and they count. */
static inline int keep_take(struct keep *k, uint64_t bytes)
{
	uint64_t others = k->others ? atomic_load(k->others) : 0;
	uint64_t max = k->max_bytes > others ? k->max_bytes - others : 0;
	uint64_t used = atomic_load_explicit(&k->used_bytes, memory_order_relaxed);

	do
		if (used > max || bytes > max - used)
			return 0;
	while (!atomic_compare_exchange_weak(&k->used_bytes, &used, used + bytes));
	return 1;
}

/* |bytes| of these are not used any more. */
static inline void keep_give_back(struct keep *k, uint64_t bytes)
{
	atomic_fetch_sub(&k->used_bytes, bytes);
}

#endif
