/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts a part off a recording, with all records until now. The recording goes on without a gap. */
#ifndef DAEMON_RECORDING_CUT_H
#define DAEMON_RECORDING_CUT_H

#include <stdint.h>

struct async_carries;
struct drain;
struct recording;

/*
 * Moves the records of |r| to |part|, which need not be initialised. The part is a recording that
 * has ended, without rings, with the same start as |r|. Its stop is now, and its window begins at
 * |from_ns| (CLOCK_MONOTONIC). While |r| still records, the rings are emptied once more, and the
 * spans that are open now are unfinished ones in the part. 0, or -ENOMEM: records are missing. Call
 * recording_part_deinit() in any case.
 */
int recording_cut(struct recording *r, struct recording *part, int64_t from_ns);
/* Does the same for a recording that has ended; its stop is the part's stop, too. */
int recording_cut_last(struct recording *r, struct recording *part, int64_t from_ns);
void recording_part_deinit(struct recording *part);

/*
 * The origin of a part's time, for snapshots of a flight recorder or a session. It is the time of
 * the part's first record, so that all numbers are small, however long the recording has run. It is
 * found before any event is made, so that events can be encoded one after the other.
 */

/*
 * The ticks at which the first record of |d| begins, in a recording with |earliest_ticks|, or
 * |first| if that is earlier.
 */
uint64_t part_origin_find_first(const struct drain *d, uint64_t earliest_ticks, uint64_t first);
/* The same for async spans that are carried over. */
uint64_t part_origin_find_first_carried(const struct async_carries *carries, uint64_t first);

/*
 * Moves the start of |part|, which is from recorder_cut() or recording_cut(), to the earliest of
 * |first|, its window, and |devices_ns| (CLOCK_MONOTONIC; INT64_MAX: there are no records of
 * devices). window_ns is relative to the start, before and after the call.
 */
void part_origin_begin(struct recording *part, uint64_t first, int64_t devices_ns);
/*
 * Does the same with the first record of the part's sources, and with |others_ns| as the earliest
 * time of its other records (CLOCK_MONOTONIC; INT64_MAX: there are none).
 */
void part_origin_set(struct recording *part, int64_t others_ns);

#endif
