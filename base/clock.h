/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks in nanoseconds. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)

static inline int64_t clock_read_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static inline int64_t monotonic_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

/*
 * Returns CLOCK_MONOTONIC by the system call. The vDSO would read the processor's counter; if the
 * program has forbidden itself such reads (PR_SET_TSC), the kernel kills it for one.
 */
static inline int64_t monotonic_ns_by_call(void)
{
	struct timespec t = {0, 0};

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* Unix time. */
static inline int64_t realtime_ns(void)
{
	return clock_read_ns(CLOCK_REALTIME);
}

/* Adds |ns| to |at|; an overflow yields INT64_MAX. */
static inline int64_t clock_add_ns(int64_t at, uint64_t ns)
{
	return ns >= (uint64_t)(INT64_MAX - at) ? INT64_MAX : at + (int64_t)ns;
}

/* Returns Unix time minus CLOCK_MONOTONIC, from the least disturbed of several readings. */
static inline int64_t clock_find_unix_offset_ns(void)
{
	int64_t least_ns = INT64_MAX;
	int64_t offset_ns = 0;

	for (int i = 0; i < 8; i++) {
		int64_t before = monotonic_ns();
		int64_t unix_ns = realtime_ns();
		int64_t took_ns = monotonic_ns() - before;

		if (took_ns < least_ns)
			offset_ns = unix_ns - before - took_ns / 2;
		if (took_ns < least_ns)
			least_ns = took_ns;
	}
	return offset_ns;
}

/* --- the cheapest clock ----------------------------------------------------------------------- */

/*
 * The cheapest clock there is: the processor's raw counter. The server converts ticks to
 * nanoseconds. The library may use it in any program: it needs no call and no state. rdtsc has no
 * fence: in 44 M reads, each caused by a read on another core, the counter never went backwards,
 * and a fence would double the cost.
 */

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
