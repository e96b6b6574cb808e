/* SPDX-License-Identifier: Apache-2.0 */
/* Makes counters in a process's plane from samples of its usage. */
#ifndef DAEMON_USAGE_LINES_H
#define DAEMON_USAGE_LINES_H

#include <stdint.h>

struct plane;
struct space;
struct usage;

/*
 * Adds the counters of |u|, which is finished. The recording ran from |start_ns| to
 * |stop_ns| (CLOCK_MONOTONIC). A rate stands at the beginning of the time over which it was
 * measured, because viewers draw counters in this way; the last rate stands at the end of
 * its time, too. 0 or -ENOMEM.
 */
int usage_add_lines(const struct usage *u, int64_t start_ns, int64_t stop_ns, struct plane *plane);
/*
 * Adds a plane with processor time and memory for each of the busiest descendants that have no
 * plane. The stat ptap_descendant_of is the pid of the program. 0 or -ENOMEM.
 */
int usage_add_descendants(
	const struct usage *u, int64_t start_ns, int64_t stop_ns, struct space *space);

#endif
