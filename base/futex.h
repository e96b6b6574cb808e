/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Futex calls on shared words. They never use the PRIVATE flag, because the other side may be
 * another process. Safe in a guest: raw system calls that keep errno.
 */
#ifndef BASE_FUTEX_H
#define BASE_FUTEX_H

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Wakes up to |n| waiters; returns how many were woken. */
static inline int futex_wake(_Atomic uint32_t *word, int n)
{
	int saved = errno;
	long woken = syscall(SYS_futex, word, FUTEX_WAKE, n, NULL, NULL, 0);

	errno = saved;
	return woken > 0 ? (int)woken : 0;
}

/*
 * Sleeps while *word == |value|, until |deadline_ns| of CLOCK_MONOTONIC (INT64_MAX: without limit).
 * Returns 0 or -EAGAIN, -EINTR, -ETIMEDOUT; a wake-up without a reason is possible.
 */
static inline int futex_wait_until(_Atomic uint32_t *word, uint32_t value, int64_t deadline_ns)
{
	int saved = errno;
	struct timespec at = {
		.tv_sec = deadline_ns / 1000000000, .tv_nsec = deadline_ns % 1000000000};
	long r = syscall(SYS_futex, word, FUTEX_WAIT_BITSET, value,
		deadline_ns == INT64_MAX ? NULL : &at, NULL, FUTEX_BITSET_MATCH_ANY);
	int result = r < 0 ? -errno : 0;

	errno = saved;
	return result;
}

#endif
