/* SPDX-License-Identifier: Apache-2.0 */
/* What a flight recorder's snapshot says of how far back it reaches, thread by thread. */
#ifndef DAEMON_WINDOWS_H
#define DAEMON_WINDOWS_H

struct assemble_input;
struct plane;
struct space;

/*
 * The plane's stats "ptap_recorder_windows", a line of text for each thread, first of those that live, 256 at most, and "ptap_shortest_window_ns", of those that
 * overwrote something; and a warning when some hold less than was asked for. What was overwritten is among the losses
 * (losses.h). Nothing for what is no snapshot. 0 or -ENOMEM.
 */
int windows_add(const struct assemble_input *in, struct plane *plane, struct space *space);

#endif
