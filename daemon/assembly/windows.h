/* SPDX-License-Identifier: Apache-2.0 */
/* What a flight recorder's snapshot says of how far back it reaches, thread by thread. */
#ifndef DAEMON_WINDOWS_H
#define DAEMON_WINDOWS_H

#include <stdint.h>

struct assemble_input;
struct plane;
struct space;

/*
 * Since when, in ticks, nothing is missing in |in| of what any thread of the process recorded: neither overwritten, nor given up for newer
 * records, nor older than what was asked for. in->stop_ticks at most. 0: nothing is missing at all.
 */
uint64_t windows_find_complete(const struct assemble_input *in);

/*
 * The plane's stat "ptap_gaps_ns", where records were lost in the middle: times from which until which they were, in Unix time as
 * "FROM-UNTIL FROM-UNTIL".
 *
 * The plane's stat "ptap_complete_since_ns", where something older is missing: windows_find_complete() as Unix time in ns. Of a flight
 * recorder's snapshot also the stats "ptap_recorder_windows", a line of text for each thread, first of those that live, 256 at most, and "ptap_shortest_window_ns", of those that
 * overwrote something; and a warning when some hold less than was asked for. What was overwritten is among the losses
 * (losses.h). 0 or -ENOMEM.
 */
int windows_add(const struct assemble_input *in, struct plane *plane, struct space *space);

#endif
