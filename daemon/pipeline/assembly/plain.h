/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fast path for spans and instants of one slot, which are nearly all records of a busy program.
 * The result is the same as that of entry_decode() and assembly.c, which process all other records.
 */
#ifndef DAEMON_PLAIN_H
#define DAEMON_PLAIN_H

#include <stddef.h>

struct assembly;
struct slot;

/*
 * Takes such records from the front of |slots| into as->events, until another record comes, or one
 * with a new name. Returns their number; 0 also when memory ran out: then as->error is -ENOMEM.
 */
size_t plain_take(struct assembly *as, const struct slot *slots, size_t n_slots);

#endif
