/* SPDX-License-Identifier: Apache-2.0 */
/* A lock in the guest page: a child that was forked while another thread held it finds it free. */
#ifndef RECORD_LOCK_H
#define RECORD_LOCK_H

#include <stdbool.h>

#include "base/futex.h"

static inline void lock_take(_Atomic uint32_t *lock)
{
	uint32_t expected = 0;

	while (!atomic_compare_exchange_strong(lock, &expected, 1)) {
		futex_wait_until(lock, 1, INT64_MAX);
		expected = 0;
	}
}

/* Returns whether the lock was free and is now taken. */
static inline bool lock_try(_Atomic uint32_t *lock)
{
	uint32_t expected = 0;

	return atomic_compare_exchange_strong(lock, &expected, 1);
}

static inline void lock_release(_Atomic uint32_t *lock)
{
	atomic_store(lock, 0);
	futex_wake(lock, 1);
}

#endif
