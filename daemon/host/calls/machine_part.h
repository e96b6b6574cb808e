/* SPDX-License-Identifier: Apache-2.0 */
/* What the host daemon puts behind a trace that comes through it: an XSpace of its own, with what the machine used meanwhile. */
#ifndef DAEMON_MACHINE_PART_H
#define DAEMON_MACHINE_PART_H

#include <stdint.h>

struct chunks;
struct machine;

/* Of a recording; its program's server says it, so it may be any. */
struct machine_window {
	uint64_t start_ns; /* CLOCK_MONOTONIC outside of all time namespaces */
	uint64_t duration_ns;
};

/*
 * Appends the part to |to|; nothing, when |m| is NULL or nothing is known of that time. The sample
 * behind its end is taken now if it has not been yet. *n_events: how many are in it. 0, or -ENOMEM: then |to| is of no use.
 */
int machine_part_append(
	struct machine *m, const struct machine_window *w, struct chunks *to, uint64_t *n_events);

#endif
