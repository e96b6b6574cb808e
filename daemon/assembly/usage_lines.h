/* SPDX-License-Identifier: Apache-2.0 */
/* From samples of what a process uses to counters in its plane. */
#ifndef DAEMON_USAGE_LINES_H
#define DAEMON_USAGE_LINES_H

#include <stdint.h>

struct plane;
struct usage;

/*
 * Of a usage that is finished. The recording ran from |start_ns| to |stop_ns| (CLOCK_MONOTONIC). A rate stands at the beginning of the time
 * that it was measured over, as viewers draw counters, and again at the end of the last. 0 or -ENOMEM.
 */
int usage_add_lines(const struct usage *u, int64_t start_ns, int64_t stop_ns, struct plane *plane);

#endif
