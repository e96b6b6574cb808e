/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that will be read or written soon: fetched into the processor's cache. */
#ifndef BASE_PREFETCH_H
#define BASE_PREFETCH_H

/* What a row is read ahead by: a processor that sees a row by itself stops at each page's end. */
#define PREFETCH_AHEAD_BYTES 4096

/* Any address, mapped or not. */
static inline void prefetch_for_read(const void *at)
{
	__builtin_prefetch(at);
}

/* The same, for this processor alone. */
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
