/* SPDX-License-Identifier: Apache-2.0 */
/* What was taken of a capture's memory (daemon/kernel/memory_budget.h) and is not used up yet: for who needs little, and often. */
#ifndef DAEMON_PURSE_H
#define DAEMON_PURSE_H

#include <stdint.h>

#include "daemon/kernel/memory_budget.h"

#define PURSE_BYTES (64u << 10)

struct purse {
	struct memory_budget *keep; /* borrowed */
	uint64_t n_bytes;
};

/* 1: there is room for |n_bytes| more, and they count. 0: there is none, also not for less. */
static inline int purse_pay(struct purse *p, uint64_t n_bytes)
{
	if (n_bytes > p->n_bytes) {
		uint64_t more = n_bytes > PURSE_BYTES ? n_bytes : PURSE_BYTES;

		if (!memory_budget_take(p->keep, more)) {
			p->n_bytes = 0;
			return 0;
		}
		p->n_bytes += more;
	}
	p->n_bytes -= n_bytes;
	return 1;
}

#endif
