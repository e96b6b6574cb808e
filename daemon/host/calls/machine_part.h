/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine's part of a trace: an XSpace with the usage of the machine during the recording,
 * which the host daemon appends to traces that pass through it.
 */
#ifndef DAEMON_MACHINE_PART_H
#define DAEMON_MACHINE_PART_H

#include <stdint.h>

struct chunks;
struct machine;

/* The time of a recording, from the untrusted server of its program. */
struct machine_window {
	uint64_t start_ns; /* CLOCK_MONOTONIC outside of all time namespaces */
	uint64_t duration_ns;
};

/*
 * Appends the part to |to|, or nothing if |m| is NULL or has no samples of that time. If there is
 * no sample after the end of the recording yet, takes one now. *n_events: number of its events. 0;
 * -ENOMEM: |to| is unusable.
 */
int machine_part_append(
	struct machine *m, const struct machine_window *w, struct chunks *to, uint64_t *n_events);

#endif
