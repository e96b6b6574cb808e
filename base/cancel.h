/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flag that ends long work: any thread raises it when the result is not needed any more, and the
 * work checks it every few thousand elements. The flag is relaxed: it orders no other data.
 */
#ifndef BASE_CANCEL_H
#define BASE_CANCEL_H

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

/*
 * Returns -ECANCELED when the flag is raised, or 0. |cancel| may be NULL, for work that cannot be
 * cancelled.
 */
static inline int cancel_check(const _Atomic int *cancel)
{
	return cancel && atomic_load_explicit(cancel, memory_order_relaxed) ? -ECANCELED : 0;
}

/*
 * For a loop over elements: checks the flag at every 4096th element; |i| is the index of this one.
 */
static inline int cancel_check_at(const _Atomic int *cancel, size_t i)
{
	return i % 4096 ? 0 : cancel_check(cancel);
}

#endif
