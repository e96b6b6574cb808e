/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time of a flight recorder's snapshot: it begins with the first of what is in it, so that all numbers are small, and
 * events can be encoded one after the other, however long the recorder has been on.
 */
#ifndef DAEMON_PART_ORIGIN_H
#define DAEMON_PART_ORIGIN_H

struct recording;

/* |part|, of recorder_cut(), whose window_ns is since its recorder's start: from here on its start is where it begins. */
void part_origin_set(struct recording *part);

#endif
