/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes into a trace how far back its records reach, and into a flight recorder's snapshot how far
 * back those of each thread reach.
 */
#ifndef DAEMON_WINDOWS_H
#define DAEMON_WINDOWS_H

#include <stdint.h>

struct assemble_input;
struct plane;
struct space;

/*
 * The time in ticks, in->stop_ticks at most, since which |in| has all records of the
 * process's threads: older ones were overwritten, given up for newer ones, or not requested.
 * 0: nothing is missing at all.
 */
uint64_t windows_find_complete(const struct assemble_input *in);

/*
 * Adds stats to the plane:
 *
 * "ptap_gaps_ns", if records in the middle were lost: the Unix times in ns between which records
 * were lost, as "FROM-UNTIL FROM-UNTIL".
 *
 * "ptap_complete_since_ns", if something older is missing: windows_find_complete() as Unix time in
 * ns.
 *
 * "ptap_recorder_windows", to a flight recorder's snapshot: a line of text for each thread, living
 * threads first, 256 at most.
 *
 * "ptap_shortest_window_ns", to such a snapshot, too: the shortest window of the threads that lack
 * records of the requested time.
 *
 * Adds a warning to the space when some threads have fewer records than were requested. Overwritten
 * records are among the losses (losses.h). 0 or -ENOMEM.
 */
int windows_add(const struct assemble_input *in, struct plane *plane, struct space *space);

#endif
