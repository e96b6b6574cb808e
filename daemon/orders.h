/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the processes of a recording are told to do: prepare, start, stop. All at the same time, and then each is waited for,
 * a second together. A child that does not answer is not part of the recording.
 */
#ifndef DAEMON_ORDERS_H
#define DAEMON_ORDERS_H

#include <stddef.h>

#include "lib/wire/arena.h"

struct diag;
struct recording;

/* ARENA_OP_PREPARE or ARENA_OP_START. 0, RECORDING_NO_TARGET, or why the program cannot, with |d|: then none records. */
int orders_begin(struct recording *r, enum arena_op op, struct diag *d);

/* To stop. 0, or the program's: -ETIMEDOUT when it is stopped, -ESRCH when it is gone. */
int orders_end(struct recording *r);

/* Those from |first| on, that joined while the others record: to start, without waiting for answers. */
void orders_start_newcomers(struct recording *r, size_t first);

#endif
