/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotations for ThreadSanitizer; nothing in other builds. gRPC's completion queue orders the data
 * that one of our threads hands to another, but the sanitizer cannot see that, since gRPC is not
 * instrumented.
 */
#ifndef RPC_HANDOFF_H
#define RPC_HANDOFF_H

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>

/*
 * Call it before |tag| is given to gRPC: the thread that gets the tag back sees everything written
 * so far.
 */
static inline void handoff_give(void *tag)
{
	__tsan_release(tag);
}

/* Call it when |tag| came back. */
static inline void handoff_take(void *tag)
{
	__tsan_acquire(tag);
}
#else
static inline void handoff_give(void *tag)
{
	(void)tag;
}

static inline void handoff_take(void *tag)
{
	(void)tag;
}
#endif

#endif
