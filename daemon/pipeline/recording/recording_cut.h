/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a recording: what was recorded until now is cut off, and the recording goes on without a gap. */
#ifndef DAEMON_RECORDING_CUT_H
#define DAEMON_RECORDING_CUT_H

#include <stdint.h>

struct recording;

/*
 * Moves what |r| holds to |part|, which need not be initialised: a recording that has ended, without rings, with the same
 * start as |r|; its stop is now, and its window begins at |from_ns| (CLOCK_MONOTONIC). While |r| still records the rings
 * are emptied once more, and the spans that are open now are in the part, unfinished. 0, or -ENOMEM: something is
 * missing. In any case recording_part_deinit().
 */
int recording_cut(struct recording *r, struct recording *part, int64_t from_ns);
/* The same of one that has ended: its stop is the recording's. */
int recording_cut_last(struct recording *r, struct recording *part, int64_t from_ns);
void recording_part_deinit(struct recording *part);

#endif
