/* SPDX-License-Identifier: Apache-2.0 */
/* From samples of what a process uses to counters in its plane. */
#ifndef DAEMON_USAGE_LINES_H
#define DAEMON_USAGE_LINES_H

#include <stdint.h>

struct plane;
struct space;
struct usage;

/*
 * Of a usage that is finished. The recording ran from |start_ns| to |stop_ns| (CLOCK_MONOTONIC). A rate stands at the beginning of the time
 * that it was measured over, as viewers draw counters, and again at the end of the last. 0 or -ENOMEM.
 */
int usage_add_lines(const struct usage *u, int64_t start_ns, int64_t stop_ns, struct plane *plane);
/*
 * A plane for each descendant that has none, the busiest ones, with its processor time and memory; the stat ptap_descendant_of is the pid of
 * the program. 0 or -ENOMEM.
 */
int usage_add_descendants(
	const struct usage *u, int64_t start_ns, int64_t stop_ns, struct space *space);

#endif
