/* SPDX-License-Identifier: Apache-2.0 */
/* The steps and other events of a short recording, as a few numbers. */
#ifndef DAEMON_STEP_TIMES_H
#define DAEMON_STEP_TIMES_H

#include <stdint.h>

struct delivery;

struct step_times {
	uint64_t
		n_steps; /* that began in the recording: one that began before is not in it, whenever it ended */
	uint64_t n_ended; /* of them, in the recording */
	int64_t total_ns; /* of those that ended */
	int64_t min_ns;
	int64_t max_ns;
	uint64_t n_events; /* spans, steps included, instants and samples of counters */
	uint64_t n_threads; /* that have spans or instants */
};

/* Reads |d|, an XSpace, to its end. 0, or a negative errno; then *out is all zero. */
int step_times_read(struct delivery *d, struct step_times *out);

#endif
