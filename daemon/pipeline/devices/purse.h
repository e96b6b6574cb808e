/* SPDX-License-Identifier: Apache-2.0 */
/* A purse takes memory from a keep (daemon/kernel/memory_budget.h) in large pieces, for a user that needs small amounts often. */
#ifndef DAEMON_PURSE_H
#define DAEMON_PURSE_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/kernel/memory_budget.h"

#define PURSE_BYTES (64u << 10)

struct purse {
	struct memory_budget *keep; /* borrowed */
	uint64_t n_bytes;
};

/* Pays for |n_bytes|. False when the keep has no room; the rest of the purse is dropped then. */
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
