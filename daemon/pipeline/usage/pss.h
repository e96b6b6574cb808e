/* SPDX-License-Identifier: Apache-2.0 */
/* The proportional share of a process in its memory: shared pages are divided among their processes. */
#ifndef DAEMON_PSS_H
#define DAEMON_PSS_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Sets *bytes. The kernel walks all page tables of |pid| for it: that takes milliseconds for each GiB, and the program's mmap() waits meanwhile. So call it
 * on request, not each second. 0, or a negative errno: -EACCES for a process of another user, -ESRCH or -ENOENT when it is gone or the kernel
 * has no smaps_rollup, -EINVAL when that has no such number. Any thread.
 */
int pss_read(const char *root, pid_t pid, uint64_t *bytes);

#endif
