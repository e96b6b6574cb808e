/* SPDX-License-Identifier: Apache-2.0 */
/* A process's share of the memory that it has: pages that several share are divided among them. */
#ifndef DAEMON_PSS_H
#define DAEMON_PSS_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Asks the kernel, which walks all page tables of |pid| for it: milliseconds for each GiB, and the program's mmap() waits meanwhile. So it is for who
 * asks, not for each second. *bytes: 0; or a negative errno: -EACCES for a process of another user, -ESRCH or -ENOENT when it is gone or the kernel
 * has no smaps_rollup, -EINVAL when that says nothing. Any thread.
 */
int pss_read(const char *root, pid_t pid, uint64_t *bytes);

#endif
