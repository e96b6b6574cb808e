/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the usage of a machine during a capture as counters of a trace. */
#ifndef DAEMON_MACHINE_PLANE_H
#define DAEMON_MACHINE_PLANE_H

#include <stdbool.h>
#include <stdint.h>

struct machine;
struct plane;
struct subject;

struct machine_cut {
	int64_t start_ns; /* start of the recording, CLOCK_MONOTONIC */
	int64_t stop_ns;
	/* if there is no sample after |stop_ns| yet, one is taken at this time; 0: none is taken */
	int64_t now_ns;
	/*
	 * Returns true for a subject that is shown. NULL: all are, except programs, whose captures
	 * have their own usage. Called under the machine's mutex.
	 */
	bool (*is_wanted)(const struct subject *s, void *context);
	void *context;
};

/*
 * Makes a plane with a line for each metric, named like "network eth0 received bytes/s". A rate of
 * a named subject has no line if it is always 0. Times of events count from the start. The last
 * sample before the start and the first one after the stop, if there is one, are at the ends of the
 * plane. The plane has no lines if there are no samples of that time. 0 or -ENOMEM; *out is the
 * caller's.
 */
int machine_plane(struct machine *m, const struct machine_cut *cut, struct plane **out);

#endif
