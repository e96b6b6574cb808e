/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts a part off a recording, with all records until now. The recording goes on without a gap. */
#ifndef DAEMON_RECORDING_CUT_H
#define DAEMON_RECORDING_CUT_H

#include <stdint.h>

struct recording;

/*
 * Moves the records of |r| to |part|, which need not be initialised. The part is a recording that has ended, without rings, with the same
 * start as |r|; its stop is now, and its window begins at |from_ns| (CLOCK_MONOTONIC). While |r| still records, the rings
 * are emptied once more, and the part has the spans that are open now as unfinished ones. 0, or -ENOMEM: records are
 * missing. Call recording_part_deinit() in any case.
 */
int recording_cut(struct recording *r, struct recording *part, int64_t from_ns);
/* Does the same for a recording that has ended, whose stop is that of the part, too. */
int recording_cut_last(struct recording *r, struct recording *part, int64_t from_ns);
void recording_part_deinit(struct recording *part);

#endif
