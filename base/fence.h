/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fences between threads. gcc's ThreadSanitizer does not support them and refuses to compile them.
 * Under it these functions only keep the compiler's order, which is all that such fences do on x86.
 */
#ifndef BASE_FENCE_H
#define BASE_FENCE_H

#include <stdatomic.h>

static inline void fence_acquire(void)
{
#ifdef __SANITIZE_THREAD__
	atomic_signal_fence(memory_order_acquire);
#else
	atomic_thread_fence(memory_order_acquire);
#endif
}

static inline void fence_release(void)
{
#ifdef __SANITIZE_THREAD__
	atomic_signal_fence(memory_order_release);
#else
	atomic_thread_fence(memory_order_release);
#endif
}

#endif
