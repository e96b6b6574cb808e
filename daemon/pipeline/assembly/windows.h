/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes into a trace how far back it reaches, and for a flight recorder's snapshot how far each
 * thread does.
 */
#ifndef DAEMON_WINDOWS_H
#define DAEMON_WINDOWS_H

#include <stdint.h>

struct assemble_input;
struct plane;
struct space;

/*
 * The time in ticks, in->stop_ticks at most, since which |in| has all records of the process's
 * threads: older ones were overwritten, given up for newer ones, or not asked for. 0: nothing is
 * missing at all.
 */
uint64_t windows_find_complete(const struct assemble_input *in);

/*
 * Adds stats to the plane:
 *
 * "ptap_gaps_ns", if records in the middle were lost: the Unix times in ns between which they were,
 * as "FROM-UNTIL FROM-UNTIL".
 *
 * "ptap_complete_since_ns", if something older is missing: windows_find_complete() as Unix time in
 * ns.
 *
 * "ptap_recorder_windows", to a flight recorder's snapshot: a line of text for each thread, living
 * threads first, 256 at most.
 *
 * "ptap_shortest_window_ns", to the same: the shortest window of the threads that overwrote
 * something.
 *
 * Adds a warning to the space when some threads hold less than was asked for. Overwritten records
 * are among the losses (losses.h). 0 or -ENOMEM.
 */
int windows_add(const struct assemble_input *in, struct plane *plane, struct space *space);

#endif
