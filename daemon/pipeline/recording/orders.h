/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orders to the processes of a recording: prepare, start, stop. All processes get an order at the
 * same time, and then have a second together to answer; one that is not halted (SIGSTOP, debugger)
 * has 4 s more. A child that does not answer is not part of the recording.
 *
 * A capture and the flight recorder use the same processes: each sets its own level (recording.h,
 * |asked|), and the order follows from both levels.
 */
#ifndef DAEMON_ORDERS_H
#define DAEMON_ORDERS_H

#include <stddef.h>

#include "lib/wire/arena.h"

struct diag;
struct recording;

/*
 * Sends ARENA_OP_PREPARE or ARENA_OP_START. 0, RECORDING_NO_TARGET, or a negative errno with |d|:
 * then no process records for |r|.
 */
int orders_begin(struct recording *r, enum arena_op op, struct diag *d);

/*
 * Ends this recording; processes go on if the family's other level needs them. 0, or for the
 * program -ETIMEDOUT when it does not answer (as under SIGSTOP), -ESRCH when it is gone.
 */
int orders_end(struct recording *r);

/*
 * Starts the sources from |first| on, which joined while the others record, without waiting for
 * answers.
 */
void orders_start_newcomers(struct recording *r, size_t first);

#endif
