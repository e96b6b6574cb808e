/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cheapest clock there is: the processor's raw counter. The server converts ticks to
 * nanoseconds. Safe in a guest: no call, no state. rdtsc has no fence: in 44 M causal reads two
 * cores never went backwards, and a fence would double the cost.
 */
#ifndef BASE_TICKS_H
#define BASE_TICKS_H

#include <stdint.h>

#if defined(__x86_64__)
#define TICKS_ARE_READABLE 1
static inline uint64_t ticks_read(void)
{
	return __builtin_ia32_rdtsc();
}
#elif defined(__aarch64__)
#define TICKS_ARE_READABLE 1
static inline uint64_t ticks_read(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}
#else
#define TICKS_ARE_READABLE 0
static inline uint64_t ticks_read(void)
{
	return 0;
}
#endif

#endif
