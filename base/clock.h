/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks in nanoseconds. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

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

/* Unix time. */
static inline int64_t realtime_ns(void)
{
	return clock_read_ns(CLOCK_REALTIME);
}

#endif
