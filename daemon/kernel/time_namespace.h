/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time namespaces (unshare --time): their processes have a CLOCK_MONOTONIC with a fixed offset, but
 * the same Unix time and processor counter as all others.
 */
#ifndef DAEMON_TIME_NAMESPACE_H
#define DAEMON_TIME_NAMESPACE_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Returns how far the CLOCK_MONOTONIC of the process |pid| (0: this process) is ahead of the
 * initial time namespace's, in ns. 0 also if that is unknown: on a kernel without such namespaces,
 * or if the process made one only for its children. |root| is "" or a test's fake root.
 */
int64_t time_namespace_find_ahead_ns(const char *root, pid_t pid);

#endif
