/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flag that ends long work: whoever waits for the result raises it, from any thread, and the work looks at it every
 * few thousand elements. Relaxed: nothing else is told by it.
 */
#ifndef BASE_CANCEL_H
#define BASE_CANCEL_H

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

/* -ECANCELED when the flag is raised, or 0. |cancel| may be NULL: nobody can raise it. */
static inline int cancel_look(const _Atomic int *cancel)
{
	return cancel && atomic_load_explicit(cancel, memory_order_relaxed) ? -ECANCELED : 0;
}

/* In a loop over elements: the look at every 4096th, |i| being the number of this one. */
static inline int cancel_look_at(const _Atomic int *cancel, size_t i)
{
	return i % 4096 ? 0 : cancel_look(cancel);
}

#endif
