/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the processes of a recording are told to do: prepare, start, stop. All at the same time, and then each is waited for,
 * a second together. A child that does not answer is not part of the recording.
 *
 * A capture and the flight recorder want something of the same processes: each says its own level (recording.h, |asked|), and
 * what is sent follows from both.
 */
#ifndef DAEMON_ORDERS_H
#define DAEMON_ORDERS_H

#include <stddef.h>

#include "lib/wire/arena.h"

struct diag;
struct family;
struct recording;
struct target;

/* ARENA_OP_PREPARE or ARENA_OP_START. 0, RECORDING_NO_TARGET, or why the program cannot, with |d|: then none records. */
int orders_begin(struct recording *r, enum arena_op op, struct diag *d);

/* What follows for |t| from what the family is to record at: START, or STOP. Does not wait for the answer. */
void orders_send(const struct family *f, struct target *t);

/* To stop, or to go on for the other one. 0, or the program's: -ETIMEDOUT when it is stopped, -ESRCH when it is gone. */
int orders_end(struct recording *r);

/* Those from |first| on, that joined while the others record: to start, without waiting for answers. */
void orders_start_newcomers(struct recording *r, size_t first);

#endif
