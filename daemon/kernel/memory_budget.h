/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for the data of a spooled capture that must stay in memory until its end: names,
 * stragglers and the offsets of runs (track.h), the marks of async spans, the samples of counters,
 * device records. The budget is a share of the capture's memory; data that do not fit are left out
 * and counted.
 *
 * Threads: any.
 */
#ifndef DAEMON_MEMORY_BUDGET_H
#define DAEMON_MEMORY_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct memory_budget {
	uint64_t max_bytes; /* UINT64_MAX: no limit */
	_Atomic uint64_t used_bytes;
	_Atomic uint64_t text_bytes; /* the part of |used_bytes| for names and texts */
	/* bytes of the same budget that another user counts; NULL: there is none */
	const _Atomic uint64_t *others;
};

/* Reserves |bytes|. false: there is no room. */
static inline bool memory_budget_take(struct memory_budget *k, uint64_t bytes)
{
	uint64_t others = k->others ? atomic_load(k->others) : 0;
	uint64_t max = k->max_bytes > others ? k->max_bytes - others : 0;
	uint64_t used = atomic_load_explicit(&k->used_bytes, memory_order_relaxed);

	do
		if (used > max || bytes > max - used)
			return false;
	while (!atomic_compare_exchange_weak(&k->used_bytes, &used, used + bytes));
	return true;
}

/* Returns |bytes| to the budget. */
static inline void memory_budget_give_back(struct memory_budget *k, uint64_t bytes)
{
	atomic_fetch_sub(&k->used_bytes, bytes);
}

/* A purse takes memory from a budget in large pieces, for a user that needs small amounts often. */
#define PURSE_BYTES (64u << 10)

struct purse {
	struct memory_budget *keep; /* borrowed */
	uint64_t n_bytes;
};

/* Pays for |n_bytes|. False when the budget has no room; then the rest of the purse goes unused. */
static inline bool purse_pay(struct purse *p, uint64_t n_bytes)
{
	if (n_bytes > p->n_bytes) {
		uint64_t more = n_bytes > PURSE_BYTES ? n_bytes : PURSE_BYTES;

		if (!memory_budget_take(p->keep, more)) {
			p->n_bytes = 0;
			return false;
		}
		p->n_bytes += more;
	}
	p->n_bytes -= n_bytes;
	return true;
}

#endif
