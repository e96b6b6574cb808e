/* SPDX-License-Identifier: Apache-2.0 */
/* Fetches memory that will be read or written soon into the processor's cache. */
#ifndef BASE_PREFETCH_H
#define BASE_PREFETCH_H

/*
 * The distance to read ahead in a sequence: a processor that detects a sequence by itself stops at
 * the end of each page.
 */
#define PREFETCH_AHEAD_BYTES 4096

/* |at| may be any address, mapped or not. */
static inline void prefetch_for_read(const void *at)
{
	__builtin_prefetch(at);
}

/* The same for writing. */
static inline void prefetch_for_write(const void *at)
{
#if defined(__x86_64__)
	/*
	 * The builtin emits this instruction only if the program need not run on the oldest
	 * processors. These ignore it.
	 */
	__asm__ volatile("prefetchw %0" ::"m"(*(const char *)at));
#else
	__builtin_prefetch(at, 1);
#endif
}

#endif
