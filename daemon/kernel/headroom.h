/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory may be taken before the kernel kills somebody for it. */
#ifndef DAEMON_HEADROOM_H
#define DAEMON_HEADROOM_H

#include <stdint.h>

/*
 * The least of: memory that is available on the machine, and limit minus usage of this process's cgroup
 * and those above it (both versions); pages of files that are on the disk, too, count as left, all that nobody has used lately and
 * half of the others: the kernel takes them away first. UINT64_MAX if nothing is known. |root| is "" or a test's fake root.
 */
uint64_t headroom_read_bytes(const char *root);

/* For two questions in a row, since each reading takes 80 us: it answers the first of them, and the next one soon after. */
struct headroom {
	uint64_t bytes;
	int64_t read_ns; /* 0: nothing is kept */
};

#define HEADROOM_KEPT_NS INT64_C(10000000)

/* Reads at |now_ns| (CLOCK_MONOTONIC), and keeps it. */
uint64_t headroom_read(struct headroom *h, const char *root, int64_t now_ns);
/* What was read no longer ago than HEADROOM_KEPT_NS, once: who asks may take some of it. Otherwise reads. */
uint64_t headroom_take(struct headroom *h, const char *root, int64_t now_ns);

#endif
