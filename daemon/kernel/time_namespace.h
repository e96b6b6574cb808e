/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time namespaces (unshare --time): the processes of one have a CLOCK_MONOTONIC of their own, which goes as the others' and is so
 * far ahead of them, or behind. Neither Unix time nor the processor's counter is another there.
 */
#ifndef DAEMON_TIME_NAMESPACE_H
#define DAEMON_TIME_NAMESPACE_H

#include <stdint.h>
#include <sys/types.h>

/*
 * How far the CLOCK_MONOTONIC of the process |pid|, 0: of this one, is ahead of that outside of all namespaces, in ns. 0 also where
 * nobody tells: of a kernel without them; of a process that made one for its children alone. |root| is "" or a test's fake root.
 */
int64_t time_namespace_find_ahead_ns(const char *root, pid_t pid);

#endif
