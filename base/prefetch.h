/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that will be written soon: fetched into the processor's cache, for it alone. */
#ifndef BASE_PREFETCH_H
#define BASE_PREFETCH_H

/* Any address, mapped or not. */
static inline void prefetch_for_write(const void *at)
{
#if defined(__x86_64__)
	/* The builtin says it only where the compiler may use more than the oldest processors; those do nothing. */
	__asm__ volatile("prefetchw %0" ::"m"(*(const char *)at));
#else
	__builtin_prefetch(at, 1);
#endif
}

#endif
