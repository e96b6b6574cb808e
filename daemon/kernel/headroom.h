/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory may be taken before the kernel kills somebody for it. */
#ifndef DAEMON_HEADROOM_H
#define DAEMON_HEADROOM_H

#include <stdint.h>

/*
 * The least of: memory that is available on the machine, and limit minus usage of this process's cgroup
 * and those above it (both versions). UINT64_MAX if nothing is known. |root| is "" or a test's fake root.
 */
uint64_t headroom_read_bytes(const char *root);

#endif
