/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans and instants of one slot: nearly all that a busy program records, so their loop is the one that counts. What
 * it makes of them is what entry_decode() and assembly.c would, and what it does not know it leaves to them.
 */
#ifndef DAEMON_PLAIN_H
#define DAEMON_PLAIN_H

#include <stddef.h>

struct assembly;
struct slot;

/*
 * Takes some such records from the front of |slots| into as->events, up to the first that is none, or whose name is met
 * for the first time. Returns how many; 0 also when memory ran out: then as->error is -ENOMEM.
 */
size_t plain_take(struct assembly *as, const struct slot *slots, size_t n_slots);

#endif
