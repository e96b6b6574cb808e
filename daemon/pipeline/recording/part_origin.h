/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time of a snapshot, of a flight recorder or a session: it begins with the first of what is in it, so that all numbers
 * are small, and events can be encoded one after the other, however long it has been recorded.
 */
#ifndef DAEMON_PART_ORIGIN_H
#define DAEMON_PART_ORIGIN_H

#include <stdint.h>

struct async_carries;
struct drain;
struct recording;

/* The ticks at which the first begins of what |d| has, of a recording with |earliest_ticks|; |first| if nothing is earlier. */
uint64_t part_origin_find_first(const struct drain *d, uint64_t earliest_ticks, uint64_t first);
/* The same of async spans that are carried over. */
uint64_t part_origin_find_first_carried(const struct async_carries *carries, uint64_t first);

/*
 * |part|, of recorder_cut() or recording_cut(), whose window_ns is since its recording's start: from here on its start is where
 * it begins, at |first|, or with its window, or at |devices_ns| (CLOCK_MONOTONIC; INT64_MAX: nothing is known of devices).
 */
void part_origin_begin(struct recording *part, uint64_t first, int64_t devices_ns);
/* The same at the first of what its sources have. */
void part_origin_set(struct recording *part);

#endif
