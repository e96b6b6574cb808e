/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The origin of a part's time, for snapshots of a flight recorder or a session: it begins with its first record, so that all numbers
 * are small and events can be encoded one after the other, however long the recording has run.
 */
#ifndef DAEMON_PART_ORIGIN_H
#define DAEMON_PART_ORIGIN_H

#include <stdint.h>

struct async_carries;
struct drain;
struct recording;

/* The ticks at which the first record of |d| begins, in a recording with |earliest_ticks|, or |first| if that is earlier. */
uint64_t part_origin_find_first(const struct drain *d, uint64_t earliest_ticks, uint64_t first);
/* The same for async spans that are carried over. */
uint64_t part_origin_find_first_carried(const struct async_carries *carries, uint64_t first);

/*
 * Moves the start of |part|, which is from recorder_cut() or recording_cut(): to the earliest of |first|, its window, and
 * |devices_ns| (CLOCK_MONOTONIC; INT64_MAX: there are no records of devices). window_ns is relative to the start, before and after.
 */
void part_origin_begin(struct recording *part, uint64_t first, int64_t devices_ns);
/* The same with the first record of its sources. */
void part_origin_set(struct recording *part);

#endif
