/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the use of a machine during a capture as counters of a trace. */
#ifndef DAEMON_MACHINE_PLANE_H
#define DAEMON_MACHINE_PLANE_H

#include <stdint.h>

struct machine;
struct plane;
struct subject;

struct machine_cut {
	int64_t start_ns; /* of the recording, CLOCK_MONOTONIC */
	int64_t stop_ns;
	int64_t now_ns; /* if no sample is behind the stop yet, one is taken then; 0: none is */
	/*
	 * Whether a thing is shown; NULL: all but programs, whose captures tell what they use.
	 * Under the machine's mutex.
	 */
	int (*is_wanted)(const struct subject *s, void *context);
	void *context;
};

/*
 * Each metric is a line, named as "network eth0 received bytes/s"; an instance of several whose
 * rates are all 0 has none. Events count from the start. The sample before it, and the one behind
 * its stop if there is one, are in it, too, at its ends. The plane has no lines when nothing is
 * known of that time. 0 or -ENOMEM; *out is the caller's.
 */
int machine_plane(struct machine *m, const struct machine_cut *cut, struct plane **out);

#endif
