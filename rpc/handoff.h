/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes through gRPC from one of our threads to another is ordered by its completion queue. ThreadSanitizer cannot
 * see that, since gRPC is not instrumented: these say it, and are nothing in other builds.
 */
#ifndef RPC_HANDOFF_H
#define RPC_HANDOFF_H

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>

/* Before |tag| is given to gRPC: what was written until now is seen by whoever gets the tag back. */
static inline void handoff_give(void *tag)
{
	__tsan_release(tag);
}

/* |tag| came back. */
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
