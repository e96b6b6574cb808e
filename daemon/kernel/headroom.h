/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that can be allocated before the kernel kills a process for lack of it. */
#ifndef DAEMON_HEADROOM_H
#define DAEMON_HEADROOM_H

#include <stdint.h>

/*
 * Returns the least of: the memory available on the machine, and limit minus usage of this
 * process's cgroup and of those above it (both versions). Clean file pages count as available, all
 * inactive and half of the active ones, because the kernel reclaims them first. UINT64_MAX if
 * nothing is known. |root| is "" or a test's fake root.
 */
uint64_t headroom_read_bytes(const char *root);

/* Keeps a reading for a caller that asks twice within a short time, since each one takes 80 us. */
struct headroom {
	uint64_t bytes;
	int64_t read_ns; /* 0: there is no reading */
};

#define HEADROOM_KEPT_NS INT64_C(10000000)

/* Reads the headroom at |now_ns| (CLOCK_MONOTONIC), and keeps it. */
uint64_t headroom_read(struct headroom *h, const char *root, int64_t now_ns);
/*
 * Returns the kept reading, once, if it is no older than HEADROOM_KEPT_NS; only once, because the
 * caller may allocate some of it. Otherwise reads again.
 */
uint64_t headroom_take(struct headroom *h, const char *root, int64_t now_ns);

#endif
